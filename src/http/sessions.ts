import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { takesPasswords } from "../config.ts";
import type { Identity } from "../domain/access.ts";
import type { Account, Session } from "../domain/account.ts";
import { sessionMs } from "../store/sessions.ts";
import { cookieOf, setCookie } from "./access/cookies.ts";

interface SignedIn {
  readonly session: Session;
  readonly account: Account;
}

const found = new WeakMap<IncomingMessage, SignedIn>();

/** Who sent a request, by the session that its cookie names; undefined where it names none. */
export function personOfSession({ config, sessions }: App, request: IncomingMessage): Identity | undefined {
  if (!takesPasswords(config)) return undefined;
  const cookie = cookieOf(request, config, "platen");
  const signedIn = cookie === undefined ? undefined : sessions.find(cookie);
  if (signedIn === undefined) return undefined;
  found.set(request, signedIn);
  const { id, name, role, isOneTime } = signedIn.account;
  return { kind: "person", name, role, account: id, mustChoosePassword: isOneTime };
}

/** The session that a request was recognised by; undefined for who was recognised by anything else, or not at all. */
export function sessionOf(request: IncomingMessage): SignedIn | undefined {
  return found.get(request);
}

/** The header that keeps somebody signed in. */
export function sessionCookie({ config }: App, request: IncomingMessage, value: string): string {
  return setCookie(request, config, { name: "platen", value, ms: sessionMs.longest });
}

/** The header that takes it away. */
export function noSessionCookie({ config }: App, request: IncomingMessage): string {
  return setCookie(request, config, { name: "platen", value: "", ms: 0 });
}
