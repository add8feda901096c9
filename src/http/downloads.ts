import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import type { DeployedPrinter } from "../domain/download.ts";
import type { Download } from "./reply.ts";
import type { RequestContext } from "./router.ts";
import { isCrossSite, isOwnAddress } from "./service-url.ts";

/**
 * A download that counts for its printers as soon as all of it is out, unless a page of another site may have asked.
 * @param what a format of packages or a kind of scripts
 */
export function counting(
  { app, request }: RequestContext,
  what: string,
  printers: readonly DeployedPrinter[],
  download: Download,
): Download {
  if (isForeign(request, app.config)) return download;
  return { ...download, onSent: () => app.deployments.downloaded(printers, what, whoOf(request)) };
}

/**
 * Browsers say which site asks, but to `https:` and localhost alone. Elsewhere the page that asks tells, and each of ours
 * does; what names none may come from any page that hides itself. A browser always names its languages, an agent never.
 */
function isForeign(request: IncomingMessage, config: App["config"]): boolean {
  const { "sec-fetch-site": site, origin, referer, "accept-language": languages } = request.headers;
  if (site !== undefined || origin !== undefined) return isCrossSite(request, config);
  if (referer !== undefined) return !isOwnAddress(referer, request, config);
  return languages !== undefined && whoOf(request) === "browser";
}

/** A class of clients, no more of them: PowerShell, which calls itself Mozilla too, is a script. */
function whoOf({ headers }: IncomingMessage): "browser" | "script" {
  const agent = headers["user-agent"] ?? "";
  return /^Mozilla\//.test(agent) && !/powershell/i.test(agent) ? "browser" : "script";
}
