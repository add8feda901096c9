import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { hasSessions, isOpenToAll } from "../config.ts";
import { type Identity, unauthenticated } from "../domain/access/access.ts";
import { isTrusted, noProxies, type Proxies } from "../domain/access/proxies.ts";
import { plainAddress } from "../domain/address.ts";
import type { SignedIn } from "../services/access/sessions.ts";

/** Who sent a request, and the session if they signed in at Platen's page. */
export interface IdentifiedSender {
  readonly identity: Identity;
  readonly signedIn?: SignedIn | undefined;
}

interface Sender extends Origin, IdentifiedSender {
  /** Identifies the request in the log: 8 hexadecimal digits. */
  readonly id: string;
  /** Whether people sign in at Platen's own page. The same for all senders. */
  readonly canSignIn: boolean;
  /** Whether sign-in is off although other machines can connect. The same for all senders. */
  readonly isOpenToAll: boolean;
  /** The maximum size of a driver ZIP; 0 for a request whose origin is not recorded. The same for all senders. */
  readonly uploadLimitBytes: number;
}

const senders = new WeakMap<IncomingMessage, Sender>();

/** Unauthenticated until `recordIdentity` is called. */
export function senderOf(request: IncomingMessage): Sender {
  const unknown = {
    id: "-",
    identity: unauthenticated,
    canSignIn: false,
    isOpenToAll: false,
    uploadLimitBytes: 0,
  };
  return senders.get(request) ?? { ...originOf(request, noProxies), ...unknown };
}

/** Records where a request comes from. Call it before anything else. */
export function recordOrigin(
  { config, random }: Pick<App, "config" | "random">,
  request: IncomingMessage,
): void {
  const { uploadLimitBytes } = config;
  const settings = {
    id: random(4).toString("hex"),
    canSignIn: hasSessions(config),
    isOpenToAll: isOpenToAll(config),
    uploadLimitBytes,
  };
  senders.set(request, { ...originOf(request, config.proxies), identity: unauthenticated, ...settings });
}

export function recordIdentity(request: IncomingMessage, sender: IdentifiedSender): void {
  senders.set(request, { ...senderOf(request), ...sender });
}

/** The client's network address, and the address of the service that it requested. */
interface Origin {
  /** The client's own network address, even if a trusted proxy forwarded the request. */
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

/** The last address in `chain` that is not a trusted proxy's. The client may have invented the addresses before it. */
function clientBehind(proxy: string, chain: string, proxies: Proxies): string {
  let nearest = proxy;
  for (const entry of chain.split(",").reverse()) {
    // Entries before one that is not an address are ignored.
    const before = isTrusted(proxies, nearest) ? plainAddress(withoutPort(entry.trim())) : undefined;
    if (before === undefined) break;
    nearest = before;
  }
  return nearest;
}

/** Removes the port that some proxies append to the client's address. */
function withoutPort(text: string): string {
  if (text.startsWith("[")) return text.slice(1, Math.max(text.indexOf("]"), 1));
  const parts = text.split(":", 3);
  return parts.length === 2 ? (parts[0] ?? "") : text;
}

/** The last entry of a header's list, which the nearest proxy added. */
function lastOf(list: string): string | undefined {
  return list.slice(list.lastIndexOf(",") + 1).trim() || undefined;
}

function textOf(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join() : (value ?? "");
}

const checks = new WeakMap<IncomingMessage, () => Promise<void>>();

/** Sets the function that `recheckSender` calls to check the sender's rights again. */
export function setSenderCheck(request: IncomingMessage, check: () => Promise<void>): void {
  checks.set(request, check);
}

/**
 * Checks the sender's rights again: after the body, which may take hours to arrive, and before a save that follows long
 * work.
 * @throws what the check throws
 */
export async function recheckSender(request: IncomingMessage): Promise<void> {
  await checks.get(request)?.();
}
