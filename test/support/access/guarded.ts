import type { TestContext } from "node:test";
import { client, startApp, type TestApp } from "../app.ts";
import { groupedProxies } from "./proxies.ts";

export type Guarded = Awaited<ReturnType<typeof startGuarded>>;

/** Starts a service with sign-in at a proxy. @returns it with clients for its users */
export async function startGuarded(t: TestContext, options: Parameters<typeof startApp>[1] = {}) {
  const service = await startApp(t, { proxies: groupedProxies(), ...options });
  const named = (name: string, groups: string) =>
    client(service.url, { "remote-user": name, "remote-groups": groups });
  const admin = named("boss", "platen-admins");
  /** Makes a token. @returns its text */
  const addToken = async (scope: string, days = "365") => {
    const page = await (await admin.post("/tokens", { name: `for ${scope}`, scope, days })).text();
    const text = /platen_\w{39}/.exec(page)?.[0];
    if (text === undefined) throw new Error(`no token was made: ${page.slice(0, 2000)}`);
    return text;
  };
  /** A client that sends a token. */
  const bearer = (token: string) => client(service.url, { authorization: `Bearer ${token}` });
  const [operator, viewer] = [named("tech", "techs"), named("seller", "sales")];
  /** Makes a link as the operator. @returns its path and query */
  const linkTo = async (address: string, days = "7") => {
    const owner = /^\/\w+\/\d+/.exec(address)?.[0];
    return linkIn(await (await operator.post(`${owner}/links`, { address, days })).text());
  };
  return { service, admin, operator, viewer, bearer, addToken, linkTo };
}

/** The link on the page that follows the form for links, without the service's address. */
export function linkIn(page: string): string {
  const text = /<code id="link-0">([^<]+)</.exec(page)?.[1]?.replaceAll("&amp;", "&");
  if (text === undefined) throw new Error(`there is no link on: ${page.slice(-2000)}`);
  return pathOf(text);
}

type Sender = Pick<TestApp, "fetch">;

/** The path of the driver's files in the script that a sender gets, without the service's address. */
export async function filesPathOf({ fetch }: Sender, script: string): Promise<string> {
  const text = await (await fetch(script)).text();
  return pathOf(/Download = '([^']+)'/.exec(text)?.[1] ?? text);
}

/** The statuses of requests for several paths at the same time. */
export async function statusesOf({ fetch }: Sender, paths: readonly string[], init?: RequestInit) {
  const answers = await Promise.all(paths.map((path) => fetch(path, init)));
  return answers.map(({ status }) => status);
}

function pathOf(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}
