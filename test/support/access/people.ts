import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Role } from "../../../src/domain/access/access.ts";
import { Secret } from "../../../src/domain/secrets.ts";
import { startApp, type TestApp } from "../app.ts";

export const adminPassword = "orbit lantern copper";
/** The password of accounts made by `addPerson`. */
export const ownPassword = "velvet harbour sixteen";

/** Starts the service with sign-in on. */
export function startClosed(t: TestContext, options: Parameters<typeof startApp>[1] = {}): Promise<TestApp> {
  return startApp(t, { adminPassword: new Secret(adminPassword), ...options });
}

/** The cookies of an answer, as a browser sends them back. */
export function cookiesOf(answer: Response): string {
  const given = answer.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  return given.filter((pair) => !pair.endsWith("=")).join("; ");
}

/** Signs in. @returns the cookies */
export async function signIn({ post }: TestApp, name: string, password: string): Promise<string> {
  const answer = await post("/sign-in", { name, password });
  assert.equal(answer.status, 303, await answer.text());
  return cookiesOf(answer);
}

export const signInAdmin = (app: TestApp) => signIn(app, "admin", adminPassword);

/** Makes an account. @returns its one-time password */
export async function addAccount(app: TestApp, name: string, role: Role = "viewer"): Promise<string> {
  const cookie = await signInAdmin(app);
  const page = await (await app.post("/accounts", { name, role }, { cookie })).text();
  const password = /id="one-time-password">([a-z0-9-]+)</.exec(page)?.[1];
  assert.ok(password, page);
  return password;
}

/** Makes an account with a chosen password, and signs in. @returns the cookies */
export async function addPerson(app: TestApp, name: string, role: Role = "viewer"): Promise<string> {
  const password = await addAccount(app, name, role);
  const first = await signIn(app, name, password);
  const answer = await app.post(
    "/sign-in/password",
    { password, chosen: ownPassword, again: ownPassword },
    { cookie: first },
  );
  assert.equal(answer.status, 303, await answer.text());
  return cookiesOf(answer);
}
