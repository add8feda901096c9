import type { IncomingMessage } from "node:http";
import { type Config, takesPasswords } from "../../config.ts";
import { type Identity, nobody } from "../../domain/access.ts";
import { plainAddress } from "../../domain/address.ts";
import { isTrusted, noProxies, type Proxies } from "../../domain/proxies.ts";
import type { SignedIn } from "../../services/sessions.ts";

/** What is known of who sent a request. */
export interface Sender extends Origin {
  readonly identity: Identity;
  /** The session that they were recognised by; undefined for who was recognised by anything else, or not at all. */
  readonly signedIn?: SignedIn | undefined;
  /** Whether people sign in at Platen's own page, with a password. */
  readonly canSignIn: boolean;
  /** Whether other machines may ask as well, and nobody has to sign in. */
  readonly isOpenToAll: boolean;
}

const stranger = { identity: nobody, canSignIn: false, isOpenToAll: false } as const;

const senders = new WeakMap<IncomingMessage, Sender>();

/** Who sent a request; nobody that we know until they were recognised. */
export function senderOf(request: IncomingMessage): Sender {
  return senders.get(request) ?? { ...originOf(request, noProxies), ...stranger };
}

/** Remembers where a request comes from, before anything else is done with it. */
export function arrive(config: Config, request: IncomingMessage): void {
  const canSignIn = takesPasswords(config);
  senders.set(request, { ...originOf(request, config.proxies), ...stranger, canSignIn });
}

/** Remembers who it is. */
export function remember(
  request: IncomingMessage,
  who: Pick<Sender, "identity" | "signedIn" | "isOpenToAll">,
): void {
  senders.set(request, { ...senderOf(request), ...who });
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

/** So many proxies can stand behind each other. */
const mostHops = 20;

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
  let end = chain.length;
  for (let hop = 0; hop < mostHops && end > 0 && isTrusted(proxies, nearest); hop++) {
    const start = chain.lastIndexOf(",", end - 1) + 1;
    const address = plainAddress(withoutPort(chain.slice(start, end).trim()));
    // What is no address hides who came before it.
    if (address === undefined) break;
    nearest = address;
    end = start - 1;
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
