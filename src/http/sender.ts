import type { IncomingMessage } from "node:http";
import { type Config, isOpenToAll, takesPasswords } from "../config.ts";
import { type Identity, nobody } from "../domain/access/access.ts";
import { isTrusted, noProxies, type Proxies } from "../domain/access/proxies.ts";
import { plainAddress } from "../domain/address.ts";
import type { SignedIn } from "../services/access/sessions.ts";

/** Somebody, and the session by which they were recognised; undefined where that was anything else. */
export interface Recognised {
  readonly identity: Identity;
  readonly signedIn?: SignedIn | undefined;
}

/** What is known of who sent a request. */
interface Sender extends Origin, Recognised {
  /** Whether people sign in at Platen's own page, with a password. */
  readonly canSignIn: boolean;
  /** Whether other machines may send requests as well, and nobody has to sign in. */
  readonly isOpenToAll: boolean;
}

const senders = new WeakMap<IncomingMessage, Sender>();

/** Who sent a request; nobody that we know until they were recognised. */
export function senderOf(request: IncomingMessage): Sender {
  const stranger = { identity: nobody, canSignIn: false, isOpenToAll: false };
  return senders.get(request) ?? { ...originOf(request, noProxies), ...stranger };
}

/** Remembers where a request comes from, before anything else is done with it. */
export function arrive(config: Config, request: IncomingMessage): void {
  const may = { canSignIn: takesPasswords(config), isOpenToAll: isOpenToAll(config) };
  senders.set(request, { ...originOf(request, config.proxies), identity: nobody, ...may });
}

/** Remembers who it is. */
export function remember(request: IncomingMessage, recognised: Recognised): void {
  senders.set(request, { ...senderOf(request), ...recognised });
}

/** Where a request comes from, and under which name it was sent. */
interface Origin {
  /** Of the client itself, where a trusted proxy says it. */
  readonly address: string;
  /** Whether a trusted proxy sent it on. */
  readonly isProxied: boolean;
  /** The host and port that the client asked for. */
  readonly host: string | undefined;
  readonly scheme: "http" | "https";
}

/** What a request says of itself counts from a trusted proxy alone. */
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

/** The last address that is no trusted proxy's: what stands before it, its sender may have made up. */
function clientBehind(proxy: string, chain: string, proxies: Proxies): string {
  let nearest = proxy;
  for (const entry of chain.split(",").reverse()) {
    // What is no address hides who came before it.
    const before = isTrusted(proxies, nearest) ? plainAddress(withoutPort(entry.trim())) : undefined;
    if (before === undefined) break;
    nearest = before;
  }
  return nearest;
}

/** Some proxies add the client's port. */
function withoutPort(text: string): string {
  if (text.startsWith("[")) return text.slice(1, Math.max(text.indexOf("]"), 1));
  const parts = text.split(":", 3);
  return parts.length === 2 ? (parts[0] ?? "") : text;
}

/** What the nearest proxy says itself. */
function lastOf(list: string): string | undefined {
  return list.slice(list.lastIndexOf(",") + 1).trim() || undefined;
}

function textOf(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join() : (value ?? "");
}

const checks = new WeakMap<IncomingMessage, () => Promise<void>>();

/** Sets what `recheckSender` calls for a request: whether its sender still may do what they began. */
export function onBodyRead(request: IncomingMessage, check: () => Promise<void>): void {
  checks.set(request, check);
}

/**
 * Called at the end of a request's body, which may take hours to come, and again right before something is written
 * of a body that was long worked on. @throws what the check throws
 */
export async function recheckSender(request: IncomingMessage): Promise<void> {
  await checks.get(request)?.();
}
