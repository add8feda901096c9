import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import type { LinkOwner } from "../domain/access/link.ts";
import { type DeployedPrinter, otherSite } from "../domain/deploy/download.ts";
import { currentActor } from "../store/actor.ts";
import type { Download, OnBegin, Stream } from "./answers/reply.ts";
import { recordOf } from "./deploy/links.ts";
import type { RequestContext } from "./router.ts";
import { isCrossSite, isOwnAddress } from "./service-url.ts";

/** What is downloaded, as the audit log names it. */
interface Downloaded {
  /** A format of packages, a kind of scripts, or another word for what it is. */
  readonly what: string;
  readonly owner?: LinkOwner | undefined;
  /** Those that it deploys: it counts for them as soon as all of it is out, unless a page of another site may have asked. */
  readonly printers?: readonly DeployedPrinter[] | undefined;
}

/** A download that stands in the audit log as soon as its first byte is out. */
export function audited<T extends Download | Stream>(
  { app, request }: RequestContext,
  { what, owner, printers }: Downloaded,
  download: T,
): T {
  const entry = {
    what,
    record: owner && recordOf(app.store, owner),
    printers: printers?.map(({ id, revision }) => [id, revision] as const),
    by: isForeign(request, app.config) ? otherSite : classOf(request),
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
