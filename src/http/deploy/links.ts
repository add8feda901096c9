import { type LinkOwner, linkDayChoices, ownerIn } from "../../domain/access/link.ts";
import { chooseDeployment } from "../../domain/deploy/deployment-choice.ts";
import { UserError } from "../../domain/errors.ts";
import type { DeployOffer } from "../../html/deploy/deploy.ts";
import { linkPage, linkTargets } from "../../html/deploy/deploy.ts";
import { html } from "../../html/html.ts";
import { paths, pathsOf } from "../../html/paths.ts";
import { curlCommand, downloadAndRunCommand, webRequestCommand } from "../../pkg/scripts/commands.ts";
import { driversOfPrinter } from "../../services/deploy/deployable.ts";
import { deployedModels } from "../../services/drivers/driver-models.ts";
import { htmlReply, type Reply, redirect } from "../answers/reply.ts";
import { pageContextOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import type { Context, RequestContext } from "../router.ts";
import { senderOf } from "../sender.ts";
import { isLoopback, isOverHttp, serviceUrl } from "../service-url.ts";
import { clientOffer, driverOffer, printerOffer } from "./deploy-offer.ts";
import { owners, recordOf } from "./owners.ts";
import { scriptDigest } from "./script-digests.ts";

/** `POST /printers/{id}/links` */
export async function ofPrinter(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const details = app.store.printers.get(id);
  const { printer } = details;
  const { driver, arm64Driver } = driversOfPrinter(app.store, printer);
  if (driver === undefined) throw new UserError("invalid", "This printer has no driver. Choose one first.");
  const { siblings } = await app.overview.printer(id);
  const offer = printerOffer(app, request, details, { printer, driver, arm64Driver }, siblings);
  return makeLink(context, { kind: "printer", id }, offer);
}

/** `POST /clients/{id}/links` */
export async function ofClient(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const client = app.store.clients.get(id);
  const { included } = chooseDeployment(await app.overview.ofClient(id));
  return makeLink(context, { kind: "client", id }, clientOffer(app, request, client, included));
}

/** `POST /drivers/{id}/links` */
export async function ofDriver(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const driver = app.store.drivers.get(id);
  const offer = driverOffer(app, request, driver, deployedModels(app.store, driver).models);
  return makeLink(context, { kind: "driver", id }, offer);
}

/** `POST /printers/{id}/links/end`, and likewise for clients and drivers */
export const endPrinter = endLinks("printer");
export const endClient = endLinks("client");
export const endDriver = endLinks("driver");

function endLinks(kind: LinkOwner["kind"]) {
  return async ({ app, id }: Context<"id">): Promise<Reply> => {
    await app.store.links.endOf(recordOf(app.store, { kind, id }));
    return redirect(`${pathsOf({ kind, id }).page}?done=links`);
  };
}

/** `DELETE /links/{id}`, and `POST /links/{id}/delete`; `?from=tokens` returns to the list of all links */
export async function end({ app, id, url }: Context<"id">): Promise<Reply> {
  const { path } = await app.store.links.end(id);
  const back = url.searchParams.get("from") === "tokens" ? paths.tokens : pathsOf(ownerIn(path)).page;
  return redirect(`${back}?done=link`);
}

/** Makes a link and shows it in the response. Does not redirect, because no page's address may contain the link. */
async function makeLink(
  context: RequestContext,
  owner: LinkOwner,
  offer: Pick<DeployOffer, "formats" | "scripts">,
): Promise<Reply> {
  const { app, request } = context;
  const form = await readForm(request);
  const target = linkTargets(offer).find(({ path }) => path === form.address);
  if (target === undefined) throw new UserError("invalid", "Choose a file for the link.");
  const days = linkDayChoices(app.config.linkDays).find((count) => String(count) === form.days);
  if (days === undefined) throw new UserError("invalid", "Choose how long the link is valid.");
  const by = senderOf(request).identity;
  const { address, expires_at } = await app.links.make({ path: target.path, days, by });
  const script = offer.scripts.find(({ path }) => path === target.path)?.kind;
  const { section } = owners[owner.kind];
  const record = recordOf(app.store, owner);
  const service = serviceUrl(request) ?? "";
  const isInsecure = isRun(script) && isOverHttp(service);
  const sha256 = isInsecure ? await linkedDigest(context, owner, script, address) : undefined;
  const snippets = snippetsOf(service + address, String(target.label), script, sha256);
  const back = { label: html`<bdi>${record.name}</bdi>`, path: pathsOf(owner).page };
  const isLoopbackOnly = service !== "" && isLoopback(service);
  const fileName = String(target.label);
  const made = { fileName, expires_at, snippets, back, section, isLoopbackOnly, isInsecure };
  return htmlReply(linkPage(pageContextOf(request), made));
}

/** Whether the link's page has a command that runs the script. */
function isRun(script: string | undefined): script is "install" | "diagnose" {
  return script === "install" || script === "diagnose";
}

/** SHA-256 of a script as its link answers. @param address of the link */
function linkedDigest(context: RequestContext, owner: LinkOwner, script: string, address: string) {
  const [path = "", link = ""] = address.split(/[?&]link=/);
  const by = context.app.links.identify(path, link);
  return scriptDigest({ ...context, by }, owner, script, path);
}

function snippetsOf(url: string, fileName: string, script: string | undefined, sha256: string | undefined) {
  const label = "Download and run, in PowerShell as administrator";
  const runs = [
    { label, text: downloadAndRunCommand(url) },
    ...(sha256 ? [{ label: checkedLabel, text: downloadAndRunCommand(url, sha256), hint: checkedHint }] : []),
  ];
  return [
    { label: "Link", text: url },
    ...(isRun(script)
      ? runs
      : [{ label: "Download with PowerShell", text: webRequestCommand(url, fileName) }]),
    { label: "Download with curl", text: curlCommand(url), hint: "In PowerShell: curl.exe." },
  ];
}

const checkedLabel = "The same, after a check of the SHA-256";
const checkedHint = "After a change in Platen, create a new link.";
