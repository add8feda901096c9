import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import type { AuditedRecord } from "../domain/audit.ts";
import type { DeployedPrinter } from "../domain/download.ts";
import { currentActor } from "../store/audit/actor.ts";
import type { Download } from "./answers/reply.ts";
import type { RequestContext } from "./router.ts";
import { isCrossSite, isOwnAddress } from "./service-url.ts";

/** What is downloaded, as the audit log names it. */
interface Downloaded {
  /** A format of packages, a kind of scripts, or another word for what it is. */
  readonly what: string;
  readonly record?: AuditedRecord | undefined;
}

/**
 * A download that counts for its printers as soon as all of it is out, unless a page of another site may have asked. The
 * audit log tells of it in any case.
 */
export function counting(
  context: RequestContext,
  told: Downloaded,
  printers: readonly DeployedPrinter[],
  download: Download,
): Download {
  const { app, request } = context;
  if (isForeign(request, app.config)) return telling(context, told, download);
  const actor = currentActor();
  const { what, record } = told;
  const onSent = () =>
    app.deployments.downloaded(printers, what, whoOf(request), { digest: download.etag, record }, actor);
  return { ...download, onSent };
}

/** A download that the audit log tells of as soon as all of it is out. */
export function telling(
  { app, request }: RequestContext,
  { what, record }: Downloaded,
  download: Download,
): Download {
  const actor = currentActor();
  const told = { what, record, by: whoOf(request), digest: download.etag, actor };
  return { ...download, onSent: () => app.store.audit.downloaded(told) };
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
