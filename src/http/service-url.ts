import type { IncomingMessage } from "node:http";
import type { Config } from "../config.ts";

const plainHost = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The service's address as the client sees it: `PUBLIC_URL`, else the request's own host. What is no
 * plain host and port is not repeated; then there is none.
 */
export function serviceUrl(request: IncomingMessage, config: Pick<Config, "publicUrl">): string | undefined {
  if (config.publicUrl !== undefined) return config.publicUrl;
  const { host } = request.headers;
  return host !== undefined && plainHost.test(host) ? `http://${host}` : undefined;
}

/** Whether a request that changes something comes from a page of another site. */
export function isCrossSite(request: IncomingMessage, config: Pick<Config, "publicUrl">): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const { origin } = request.headers;
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  const ours = [request.headers.host, config.publicUrl && new URL(config.publicUrl).host];
  return !ours.includes(new URL(origin).host);
}
