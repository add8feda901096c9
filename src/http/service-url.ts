import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { isLoopbackHost } from "../domain/address.ts";
import { UserError } from "../domain/errors.ts";
import { senderOf } from "./sender.ts";

/**
 * The service's address as the client sees it: `PUBLIC_URL`, else the scheme and host from the request or a trusted
 * proxy's headers, of which `checkHost` accepts only a plain name or IP address with a port. Undefined without a host,
 * and for a port beyond 65,535.
 */
export function serviceUrl(request: IncomingMessage): string | undefined {
  const { config, host = "", scheme } = senderOf(request);
  if (config.publicUrl !== undefined) return config.publicUrl;
  const url = `${scheme}://${host}`;
  // One spelling for all requests with this host, so that a script and its SHA-256 are always the same.
  return URL.canParse(url) ? new URL(url).origin : undefined;
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
export function isCrossSite(request: IncomingMessage): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const { origin } = request.headers;
  return origin !== undefined && !isOwnAddress(origin, request);
}

/** Whether a URL has the host of this request or of `PUBLIC_URL`. */
export function isOwnAddress(address: string, request: IncomingMessage): boolean {
  if (!URL.canParse(address)) return false;
  const { config, host } = senderOf(request);
  const ours = [host, config.publicUrl && new URL(config.publicUrl).host];
  return ours.includes(new URL(address).host);
}

/** Names that no outsider can own: one word, and the endings that are never public. */
const privateName =
  /^[^.]+$|\.(?:local|lan|internal|home\.arpa|localhost|localdomain|home|intranet|corp|private|test)$/;

/**
 * Refuses a host name that another site may own. A site can make its own name resolve to this machine (DNS rebinding),
 * and browsers then treat its pages as Platen's.
 * @throws UserError "misdirected" that names the settings
 */
export function checkHost(request: IncomingMessage): void {
  const { config, host } = senderOf(request);
  const { publicUrl, allowedHosts } = config;
  const name = hostName(host);
  const known = [...allowedHosts, publicUrl && new URL(publicUrl).hostname];
  if (name !== undefined && (isIP(name) !== 0 || privateName.test(name) || known.includes(name))) return;
  throw new UserError(
    "misdirected",
    `${name === undefined ? "This request names no host" : `Platen does not know the host name “${name}”`}. ` +
      "Add the name to ALLOWED_HOSTS, or set PUBLIC_URL.",
  );
}

/** The name in a `Host` header, in lower case, without port and final dot; an IPv6 address without brackets. */
function hostName(host = ""): string | undefined {
  const [, address, name] =
    /^(?:\[([\da-f:.]+)\]|([\w.-]*[\w-])\.?)(?::\d{0,5})?$/.exec(host.toLowerCase()) ?? [];
  return address ?? name;
}
