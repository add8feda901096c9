import { signatureIn, signatureLimitBytes } from "../../domain/deploy/signature.ts";
import { UserError } from "../../domain/errors.ts";
import { paths } from "../../html/paths.ts";
import { renderSignScript } from "../../pkg/scripts/operator-scripts.ts";
import { isNavigation } from "../answer-form.ts";
import { bytesDownload, jsonReply, noContent, type Reply, redirect } from "../answers/reply.ts";
import { readUpload } from "../requests/multipart.ts";
import type { Context } from "../router.ts";
import { serviceUrl } from "../service-url.ts";

// Signing the scripts of packages. The key stays on the operator's PC, where sign.ps1 runs.

/** `GET /sign` */
export function script({ request }: Context): Reply {
  const bytes = renderSignScript(serviceUrl(request) ?? "");
  return bytesDownload(bytes, { type: "text/plain; charset=utf-8", fileName: "sign.ps1" });
}

/** `GET /signatures`: the scripts without a signature; with `?all=1` also the signed ones */
export async function index({ app, url }: Context): Promise<Reply> {
  const which = url.searchParams.get("all") === "1" ? "all" : "unsigned";
  return jsonReply(await app.signing.list(which));
}

/** `GET /signatures/{sha256}`: the script's exact bytes */
export async function show({ app, params }: Context<"sha256">): Promise<Reply> {
  const digest = digestIn(params.sha256);
  const type = "text/plain; charset=utf-8";
  return bytesDownload(await app.signing.script(digest), { type, fileName: `${digest}.ps1`, etag: digest });
}

/** For the headers of a form around the file. */
const formBytes = 16 * 1024;

/** `POST /signatures/{sha256}`: the signed file, as the body or in a field */
export async function add({ app, request, params }: Context<"sha256">): Promise<Reply> {
  const digest = digestIn(params.sha256);
  // Throws for an unknown script, before the file is received.
  const script = await app.signing.script(digest);
  const limitBytes = script.length + signatureLimitBytes + formBytes;
  const tooLarge = () => new UserError("too-large", "The file is larger than a signed script can be.");
  const signed = await readUpload(request, { limitBytes, tooLarge });
  const name = await app.signing.put(digest, signatureIn(signed, script));
  app.store.audit.record("signed", { what: `${name} ${digest.slice(0, 12)}` });
  await app.store.audit.waitForEvents();
  return noContent();
}

/** `DELETE /signatures`, and `POST /signatures/delete`: the shop no longer signs */
export async function removeAll({ app, request }: Context): Promise<Reply> {
  await app.signing.removeAll();
  app.store.audit.record("signatures-deleted");
  await app.store.audit.waitForEvents();
  return isNavigation(request) ? redirect(`${paths.packages}?done=signatures`) : noContent();
}

/** @throws UserError "not-found" */
function digestIn(text: string): string {
  const digest = text.toLowerCase();
  if (/^[0-9a-f]{64}$/.test(digest)) return digest;
  throw new UserError("not-found", "A script’s address has its SHA-256: 64 hex digits.");
}
