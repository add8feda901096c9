import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { type Config, isLoopbackOnly, needsSignIn } from "../config.ts";
import { isLoopbackHost } from "../domain/address.ts";
import { UserError } from "../domain/errors.ts";
import { senderOf } from "./sender.ts";

const plainHost = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The service's address as the client sees it: `PUBLIC_URL`, else the scheme and host from the request or a trusted
 * proxy's headers. Undefined if the host is not a plain name or IP address with an optional port: scripts contain it.
 */
export function serviceUrl(request: IncomingMessage, config: Pick<Config, "publicUrl">): string | undefined {
  if (config.publicUrl !== undefined) return config.publicUrl;
  const { host = "", scheme } = senderOf(request);
  const url = `${scheme}://${host}`;
  // `canParse` refuses a port beyond 65,535.
  // One spelling for all requests with this host, so that a script and its SHA-256 are always the same.
  return plainHost.test(host) && URL.canParse(url) ? new URL(url).origin : undefined;
}

/** Whether others on the network could change what machines download from the service. */
export function isOverHttp(service: string | undefined): boolean {
  return service?.startsWith("http:") === true;
}

/** Whether the service's address is a loopback address, such as localhost: other machines would reach themselves. */
export function isLoopback(service: string): boolean {
  return isLoopbackHost(new URL(service).hostname);
}

/** Whether a request comes from a page of another site. */
export function isCrossSite(request: IncomingMessage, config: Pick<Config, "publicUrl">): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const { origin } = request.headers;
  return origin !== undefined && !isOwnAddress(origin, request, config);
}

/** Whether a URL has the host of this request or of `PUBLIC_URL`. */
export function isOwnAddress(
  address: string,
  request: IncomingMessage,
  { publicUrl }: Pick<Config, "publicUrl">,
): boolean {
  if (!URL.canParse(address)) return false;
  const ours = [senderOf(request).host, publicUrl && new URL(publicUrl).host];
  return ours.includes(new URL(address).host);
}

/** Endings of names that are never public: RFC 6762, 8375 and 6761, ICANN's `internal`, and those that routers use. */
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
 * Refuses a change under a public host name that is not in the settings. Another site can make its own name resolve to
 * this machine (DNS rebinding), and browsers then treat requests from its pages as same-origin. A service that only this
 * machine can reach, without sign-in, also refuses private names, because the DNS server of an untrusted network can
 * resolve them to this machine.
 * @throws UserError "misdirected" that names the setting
 */
export function checkChangeHost(request: IncomingMessage, config: Config): void {
  const isLocalOnly = isLoopbackOnly(config) && !needsSignIn(config);
  checkNames(request, config, isLocalOnly ? isLocalName : isPrivateName, "nothing was changed");
}

/**
 * With `PUBLIC_URL`, shows nothing under a public host name that is not in the settings. Without it, accepts every
 * name, because a reverse proxy may use any.
 * @throws UserError "misdirected"
 */
export function checkReadHost(request: IncomingMessage, config: Config): void {
  if (config.publicUrl !== undefined) checkNames(request, config, isPrivateName, "nothing is shown under it");
}

/**
 * Checks the host name in `Host`, and in the request line if it contains a whole URL (RFC 9112, 3.2.2).
 * @param needsNoSetting whether a name is accepted without a setting
 * @param outcome the part of the error message that says what did not happen
 */
function checkNames(
  request: IncomingMessage,
  { publicUrl, allowedHosts }: Config,
  needsNoSetting: (name: string) => boolean,
  outcome: string,
): void {
  const known = [...allowedHosts, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])];
  const { host } = senderOf(request);
  const authority = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? "")?.[1];
  for (const requested of [host, authority ?? host]) {
    const name = hostName(requested);
    if (name !== undefined && (needsNoSetting(name) || known.includes(name))) continue;
    throw new UserError(
      "misdirected",
      `${name === undefined ? "This request names no host" : `Platen does not know the host name “${name}”`}: ` +
        `${outcome}. Add the name to ALLOWED_HOSTS, or set PUBLIC_URL.`,
    );
  }
}

/** The name in a `Host` header, in lower case, without port and final dot; an IPv6 address without brackets. */
function hostName(host: string | undefined): string | undefined {
  if (host?.startsWith("[")) return plainHost.test(host) ? host.slice(1, host.indexOf("]")) : undefined;
  const name = /^([a-z0-9._-]+)(?::\d{0,5})?$/.exec(host?.toLowerCase() ?? "")?.[1];
  if (name === undefined) return undefined;
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/** Whether browsers resolve a name without DNS. */
function isLocalName(name: string): boolean {
  return isIP(name) !== 0 || name === "localhost" || name.endsWith(".localhost");
}

function isPrivateName(name: string): boolean {
  return (
    isIP(name) !== 0 || !name.includes(".") || privateEndings.some((ending) => name.endsWith(`.${ending}`))
  );
}
