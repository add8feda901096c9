import type { TestContext } from "node:test";
import { client, startApp, type TestApp } from "../app.ts";
import { groupedProxies } from "./proxies.ts";

/** A service with sign-in on, and clients for its users. */
export interface Guarded {
  readonly service: TestApp;
  readonly admin: ReturnType<typeof client>;
  readonly operator: ReturnType<typeof client>;
  readonly viewer: ReturnType<typeof client>;
  /** A client that sends a token. */
  bearer(token: string): ReturnType<typeof client>;
  /** Makes a token. @returns its text */
  addToken(scope: string, days?: string): Promise<string>;
}

/** @param options as `startApp` takes them */
export async function startGuarded(
  t: TestContext,
  options: Parameters<typeof startApp>[1] = {},
): Promise<Guarded> {
  const service = await startApp(t, { proxies: groupedProxies(), ...options });
  const named = (name: string, groups: string) =>
    client(service.url, { "remote-user": name, "remote-groups": groups });
  const admin = named("boss", "platen-admins");
  const addToken = async (scope: string, days = "365") => {
    const page = await (await admin.post("/tokens", { name: `for ${scope}`, scope, days })).text();
    const text = /platen_\w{39}/.exec(page)?.[0];
    if (text === undefined) throw new Error(`no token was made: ${page.slice(0, 2000)}`);
    return text;
  };
  const bearer = (token: string) => client(service.url, { authorization: `Bearer ${token}` });
  return {
    service,
    admin,
    operator: named("tech", "techs"),
    viewer: named("seller", "sales"),
    bearer,
    addToken,
  };
}

/** The path of the driver's files in a script, without the service's address. */
export function downloadPathIn(script: string): string {
  const address = /Download = '([^']+)'/.exec(script)?.[1] ?? "";
  const { pathname, search } = new URL(address);
  return pathname + search;
}
