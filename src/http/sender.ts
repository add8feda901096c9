import type { IncomingMessage } from "node:http";
import { acceptsPasswords, type Config, isOpenToAll } from "../config.ts";
import { type Identity, unauthenticated } from "../domain/access/access.ts";
import { isTrusted, noProxies, type Proxies } from "../domain/access/proxies.ts";
import { plainAddress } from "../domain/address.ts";
import type { SignedIn } from "../services/access/sessions.ts";

/** An identity, with the session that proves it where there is one. */
export interface IdentifiedSender {
  readonly identity: Identity;
  readonly signedIn?: SignedIn | undefined;
}

/** The sender of a request. */
interface Sender extends Origin, IdentifiedSender {
  /** Whether people sign in at Platen's own page, with a password. The same for all senders. */
  readonly canSignIn: boolean;
  /** Whether sign-in is off although other machines can connect. The same for all senders. */
  readonly isOpenToAll: boolean;
}

const senders = new WeakMap<IncomingMessage, Sender>();

/** The sender of a request; unauthenticated until `recordIdentity` is called. */
export function senderOf(request: IncomingMessage): Sender {
  const unknown = { identity: unauthenticated, canSignIn: false, isOpenToAll: false };
  return senders.get(request) ?? { ...originOf(request, noProxies), ...unknown };
}

/** Records where a request comes from, before anything else is done with it. */
export function recordOrigin(config: Config, request: IncomingMessage): void {
  const settings = { canSignIn: acceptsPasswords(config), isOpenToAll: isOpenToAll(config) };
  senders.set(request, { ...originOf(request, config.proxies), identity: unauthenticated, ...settings });
}

/** Records who sent a request. */
export function recordIdentity(request: IncomingMessage, sender: IdentifiedSender): void {
  senders.set(request, { ...senderOf(request), ...sender });
}

/** The network address that a request comes from, and the service's address in it. */
interface Origin {
  /** The network address of the client, also behind a trusted proxy. */
  readonly address: string;
  /** Whether the request came through a trusted proxy. */
  readonly isProxied: boolean;
  /** The host and port that the client requested. */
  readonly host: string | undefined;
  readonly scheme: "http" | "https";
}

/** Reads `X-Forwarded-…` from trusted proxies only. */
export function originOf({ socket, headers }: IncomingMessage, proxies: Proxies): Origin {
  const peer = socket.remoteAddress ?? "";
  const address = plainAddress(peer) ?? peer;
  const { host } = headers;
  if (!isTrusted(proxies, address)) return { address, isProxied: false, host, scheme: "http" };
  return {
    address: clientBehind(address, textOf(headers["x-forwarded-for"]), proxies),
    isProxied: true,
    host: lastOf(textOf(headers["x-forwarded-host"])) ?? host,
    scheme: lastOf(textOf(headers["x-forwarded-proto"]))?.toLowerCase() === "https" ? "https" : "http",
  };
}

/** The last address that is no trusted proxy's. The client may have invented the addresses before it. */
function clientBehind(proxy: string, chain: string, proxies: Proxies): string {
  let nearest = proxy;
  for (const entry of chain.split(",").reverse()) {
    // An entry without an address ends the chain.
    const before = isTrusted(proxies, nearest) ? plainAddress(withoutPort(entry.trim())) : undefined;
    if (before === undefined) break;
    nearest = before;
  }
  return nearest;
}

/** Some proxies append the client's port. */
function withoutPort(text: string): string {
  if (text.startsWith("[")) return text.slice(1, Math.max(text.indexOf("]"), 1));
  const parts = text.split(":", 3);
  return parts.length === 2 ? (parts[0] ?? "") : text;
}

/** The last entry of a list, which the nearest proxy added itself. */
function lastOf(list: string): string | undefined {
  return list.slice(list.lastIndexOf(",") + 1).trim() || undefined;
}

function textOf(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join() : (value ?? "");
}

const checks = new WeakMap<IncomingMessage, () => Promise<void>>();

/** Sets the function that `recheckSender` calls, which checks the sender's rights once more. */
export function onBodyRead(request: IncomingMessage, check: () => Promise<void>): void {
  checks.set(request, check);
}

/**
 * Called at the end of a request's body, which may take hours to arrive, and before a save that follows long work.
 * @throws what the check throws
 */
export async function recheckSender(request: IncomingMessage): Promise<void> {
  await checks.get(request)?.();
}
