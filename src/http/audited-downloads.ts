import type { IncomingMessage } from "node:http";
import type { LinkOwner } from "../domain/access/link.ts";
import { crossSitePage, type DeployedPrinter } from "../domain/deploy/download.ts";
import { currentActor } from "../store/actor.ts";
import type { Download, Stream } from "./answers/reply.ts";
import { recordOf } from "./deploy/owners.ts";
import type { RequestContext } from "./router.ts";
import { isCrossSite, isOwnAddress } from "./service-url.ts";

/** A download, as the audit log names it. */
interface Downloaded {
  /** The id of a package format, a kind of script, or a word such as `archive`. */
  readonly what: string;
  readonly owner?: LinkOwner | undefined;
  /** The printers that it deploys. A complete download counts as their deployment, unless another site requested it. */
  readonly printers?: readonly DeployedPrinter[] | undefined;
}

/** Makes the audit log record a download when its last byte was sent. */
export function audited<T extends Download | Stream>(
  { app, request }: RequestContext,
  { what, owner, printers }: Downloaded,
  download: T,
): T {
  const entry = {
    what,
    record: owner && recordOf(app.store, owner),
    printers: printers?.map(({ id, revision }) => [id, revision] as const),
    by: mayBeCrossSite(request) ? crossSitePage : classOf(request),
    digest: download.kind === "stream" ? "" : download.etag,
    actor: currentActor(),
  };
  return { ...download, onSent: () => app.store.audit.record("downloaded", entry) };
}

/**
 * Whether a page of another site may have sent a request. Browsers send `Sec-Fetch-Site` only to https and localhost.
 * Elsewhere, requests from Platen's own pages always have `Referer`. A browser's request without both may come from any
 * site. Browsers always send `Accept-Language`; scripts and agents do not.
 */
function mayBeCrossSite(request: IncomingMessage): boolean {
  const { "sec-fetch-site": site, origin, referer, "accept-language": languages } = request.headers;
  if (site !== undefined || origin !== undefined) return isCrossSite(request);
  if (referer !== undefined) return !isOwnAddress(referer, request);
  return languages !== undefined && classOf(request) === "browser";
}

/** PowerShell's user agent also begins with Mozilla, but it counts as a script. */
function classOf({ headers }: IncomingMessage): "browser" | "script" {
  const agent = headers["user-agent"] ?? "";
  return /^Mozilla\//.test(agent) && !/powershell/i.test(agent) ? "browser" : "script";
}
