import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { type Config, isLoopbackOnly, needsSignIn } from "../config.ts";
import { isLoopbackHost } from "../domain/address.ts";
import { UserError } from "../domain/errors.ts";
import { senderOf } from "./sender.ts";

const plainHost = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The service's address as the client sees it: `PUBLIC_URL`, else the request's own scheme and host, as a trusted proxy
 * says them. What is no plain host and port is not repeated; then there is none.
 */
export function serviceUrl(request: IncomingMessage, config: Pick<Config, "publicUrl">): string | undefined {
  if (config.publicUrl !== undefined) return config.publicUrl;
  const { host = "", scheme } = senderOf(request);
  const url = `${scheme}://${host}`;
  // A port beyond 65,535, for example, is in no address.
  return plainHost.test(host) && URL.canParse(url) ? url : undefined;
}

/** Whether an address of the service leads every other machine to itself. */
export function isLoopback(service: string): boolean {
  return isLoopbackHost(new URL(service).hostname);
}

/** Whether a request that changes something comes from a page of another site. */
export function isCrossSite(request: IncomingMessage, config: Pick<Config, "publicUrl">): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const { origin } = request.headers;
  return origin !== undefined && !isOwnAddress(origin, request, config);
}

/** Whether an address is one of this service, as the request names it or as it is known. */
export function isOwnAddress(
  address: string,
  request: IncomingMessage,
  { publicUrl }: Pick<Config, "publicUrl">,
): boolean {
  if (!URL.canParse(address)) return false;
  const ours = [senderOf(request).host, publicUrl && new URL(publicUrl).host];
  return ours.includes(new URL(address).host);
}

/** Endings that no public name has: RFC 6762, 8375 and 6761, ICANN's `internal`, and what routers give out. */
const privateEndings = [
  "local",
  "lan",
  "internal",
  "home.arpa",
  "localhost",
  "localdomain",
  "home",
  "intranet",
  "corp",
  "private",
  "test",
];

/**
 * Refuses a change that was sent to a public name that is not known as ours. A page of another site can let its own
 * name point at this machine (DNS rebinding); to the browser its requests then come from the same origin. Where this
 * machine alone can connect and nobody signs in, so it is with private names, too: in a strange network somebody else
 * gives them out, who cannot connect, and the browser here can.
 * @throws UserError "misdirected" that names the setting
 */
export function checkHost(request: IncomingMessage, config: Config): void {
  const isGuarded = isLoopbackOnly(config) && !needsSignIn(config);
  refuseOthers(request, config, isGuarded ? isOwnMachine : isPrivate, "nothing was changed");
}

/**
 * Where `PUBLIC_URL` says which name is ours, the same of every request: such a page does not read ours either.
 * Without it nobody knows which public name a reverse proxy lends us, and pages are answered under any.
 * @throws UserError "misdirected"
 */
export function checkReader(request: IncomingMessage, config: Config): void {
  if (config.publicUrl !== undefined) refuseOthers(request, config, isPrivate, "nothing is shown under it");
}

/**
 * Checks each name by which a request calls us: in `Host`, and in its address where that is whole (RFC 9112, 3.2.2).
 * @param needsNoSetting whether a name is ours that no setting has
 */
function refuseOthers(
  request: IncomingMessage,
  { publicUrl, allowedHosts }: Config,
  needsNoSetting: (name: string) => boolean,
  what: string,
): void {
  const known = [...allowedHosts, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])];
  const { host } = senderOf(request);
  const authority = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? "")?.[1];
  for (const called of [host, authority ?? host]) {
    const name = hostName(called);
    if (name !== undefined && (needsNoSetting(name) || known.includes(name))) continue;
    throw new UserError(
      "misdirected",
      `${name === undefined ? "This request names no host" : `“${name}” is not known as a name of this service`}: ` +
        `${what}. Whoever runs it can set PUBLIC_URL to its address, or add the name to ALLOWED_HOSTS.`,
    );
  }
}

/** The name in a `Host` header, in lower case, without port and closing dot; an IPv6 address without brackets. */
function hostName(host: string | undefined): string | undefined {
  if (host?.startsWith("[")) return plainHost.test(host) ? host.slice(1, host.indexOf("]")) : undefined;
  const name = /^([a-z0-9._-]+)(?::\d{0,5})?$/.exec(host?.toLowerCase() ?? "")?.[1];
  if (name === undefined) return undefined;
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/** A name that a browser asks nobody for. */
function isOwnMachine(name: string): boolean {
  return isIP(name) !== 0 || name === "localhost" || name.endsWith(".localhost");
}

function isPrivate(name: string): boolean {
  return (
    isIP(name) !== 0 || !name.includes(".") || privateEndings.some((ending) => name.endsWith(`.${ending}`))
  );
}
