import { createHash } from "node:crypto";
import { needsSignIn } from "../../config.ts";
import type { LinkOwner } from "../../domain/access/link.ts";
import { UserError } from "../../domain/errors.ts";
import { pathsOf } from "../../html/paths.ts";
import type { Context } from "../router.ts";
import { isOverHttp, serviceUrl } from "../service-url.ts";
import type { ScriptContext } from "./owners.ts";
import { clientScript, driverScript, printerScript } from "./packages.ts";

/** SHA-256 in hex of the scripts that commands download and run. Undefined for a script that cannot be made. */
export interface ScriptDigests {
  readonly install: string | undefined;
  readonly diagnose: string | undefined;
}

const makers = { printer: printerScript, client: clientScript, driver: driverScript };

/**
 * SHA-256 in hex of a script, as its address answers. Undefined if it cannot be made: the record's page says why.
 * @param address the script's path, with the query
 */
export async function scriptDigest(
  context: ScriptContext,
  { kind: owner, id }: LinkOwner,
  kind: string,
  address: string,
): Promise<string | undefined> {
  const url = new URL(address, context.url);
  try {
    const { bytes } = await makers[owner]({ ...context, id, params: { id: String(id), kind }, url });
    return createHash("sha256").update(bytes).digest("hex");
  } catch (error) {
    if (error instanceof UserError && error.code === "invalid") return undefined;
    throw error;
  }
}

/**
 * The digests for a page over http with `check=1`. Other pages do not wait for them: making a script may take longer than
 * the page, because an install script contains the SHA-256 of its drivers' files.
 */
export async function requestedDigests(
  context: Context<"id">,
  kind: LinkOwner["kind"],
): Promise<ScriptDigests | undefined> {
  const { app, request, url, id } = context;
  const isOffered = !needsSignIn(app.config) && isOverHttp(serviceUrl(request));
  if (!isOffered || url.searchParams.get("check") !== "1") return undefined;
  const owner = { kind, id };
  const digest = (script: string) => scriptDigest(context, owner, script, pathsOf(owner).script(script));
  const install = await digest("install");
  return { install, diagnose: kind === "driver" ? undefined : await digest("diagnose") };
}
