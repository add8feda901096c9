import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import type { AuditedRecord } from "../domain/audit.ts";
import { type DeployedPrinter, otherSite } from "../domain/download.ts";
import { currentActor } from "../store/audit/actor.ts";
import type { Download, OnBegin, Stream } from "./answers/reply.ts";
import type { RequestContext } from "./router.ts";
import { isCrossSite, isOwnAddress } from "./service-url.ts";

/** What is downloaded, as the audit log names it. */
interface Downloaded {
  /** A format of packages, a kind of scripts, or another word for what it is. */
  readonly what: string;
  readonly record?: AuditedRecord | undefined;
}

/** A download that counts for its printers as soon as all of it is out, unless a page of another site may have asked. */
export function counting(
  context: RequestContext,
  downloaded: Downloaded,
  printers: readonly DeployedPrinter[],
  download: Download,
): Download {
  const pairs = printers.map(({ id, revision }) => [id, revision] as const);
  return audited(context, { ...downloaded, printers: pairs }, download);
}

/** A download that stands in the audit log as soon as its first byte is out. */
export function audited<T extends Download | Stream>(
  { app, request }: RequestContext,
  downloaded: Downloaded & { readonly printers?: readonly (readonly [id: number, revision: string])[] },
  download: T,
): T {
  const by = isForeign(request, app.config) ? otherSite : classOf(request);
  const entry = {
    ...downloaded,
    by,
    digest: download.kind === "stream" ? "" : download.etag,
    actor: currentActor(),
  };
  const onBegin: OnBegin = (range) => app.store.audit.download(entry, range);
  return { ...download, onBegin };
}

/**
 * Browsers say which site asks, but to `https:` and localhost alone. Elsewhere the page that asks tells, and each of ours
 * does; what names none may come from any page that hides itself. A browser always names its languages, an agent never.
 */
function isForeign(request: IncomingMessage, config: App["config"]): boolean {
  const { "sec-fetch-site": site, origin, referer, "accept-language": languages } = request.headers;
  if (site !== undefined || origin !== undefined) return isCrossSite(request, config);
  if (referer !== undefined) return !isOwnAddress(referer, request, config);
  return languages !== undefined && classOf(request) === "browser";
}

/** A class of clients, no more of them: PowerShell, which calls itself Mozilla too, is a script. */
function classOf({ headers }: IncomingMessage): "browser" | "script" {
  const agent = headers["user-agent"] ?? "";
  return /^Mozilla\//.test(agent) && !/powershell/i.test(agent) ? "browser" : "script";
}
