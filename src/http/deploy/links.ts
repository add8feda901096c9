import { needsSignIn } from "../../config.ts";
import { type LinkOwner, type LinkSource, linkDayChoices } from "../../domain/access/link.ts";
import { chooseDeployment } from "../../domain/deploy/deployment-choice.ts";
import { UserError } from "../../domain/errors.ts";
import { utcDay } from "../../domain/text.ts";
import type { DeployOffer } from "../../html/deploy/deploy.ts";
import { linkPage, linkTargets } from "../../html/deploy/deploy.ts";
import { html } from "../../html/html.ts";
import { pathsOf } from "../../html/paths.ts";
import { curlCommand, downloadAndRunCommand, webRequestCommand } from "../../pkg/scripts/commands.ts";
import type { Links } from "../../services/access/links.ts";
import { driversOfPrinter } from "../../services/deploy/deployable.ts";
import { deployedModels } from "../../services/drivers/driver-models.ts";
import type { Store } from "../../store/store.ts";
import { htmlReply, type Reply, redirect } from "../answers/reply.ts";
import { pageContextOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import type { Context, RequestContext } from "../router.ts";
import { senderOf } from "../sender.ts";
import { isLoopback, serviceUrl } from "../service-url.ts";
import { clientOffer, driverOffer, printerOffer } from "./deploy-offer.ts";

/** For each kind of record with links: the section of its pages, and how to get the name of a record. */
export const owners = {
  printer: {
    section: "Printers",
    nameOf: ({ printers }: Store, id: number) => printers.get(id).printer.name,
  },
  client: { section: "Clients", nameOf: ({ clients }: Store, id: number) => clients.get(id).name },
  driver: { section: "Drivers", nameOf: driverName },
} as const;

/** The same name as in `auditedTables`. @throws UserError "not-found" */
function driverName({ drivers }: Store, id: number): string {
  const { name, driver_desc, file_name } = drivers.get(id);
  return name || driver_desc || file_name;
}

/** A printer, client or driver as the audit log names it. @throws UserError "not-found" */
export function recordOf(store: Store, owner: LinkOwner) {
  return { ...owner, name: owners[owner.kind].nameOf(store, owner.id) };
}

/**
 * The URL from which a script downloads something. With sign-in it is a link, because machines cannot sign in.
 * @param service the address of the service
 * @param source the printer or client whose script contains the URL; undefined if it is the target itself, or a driver
 */
export function fetchUrl(
  { app: { config, links }, request }: RequestContext,
  service: string,
  target: Parameters<Links["make"]>[0],
  source: LinkSource | undefined,
): string {
  if (!needsSignIn(config)) return service + target.address;
  const by = senderOf(request).identity;
  return service + links.make(target, { days: config.linkDays, by, source }).address;
}

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
    await app.store.linkGenerations.revoke(recordOf(app.store, { kind, id }));
    return redirect(`${pathsOf({ kind, id }).page}?done=links`);
  };
}

/** Makes a link and shows it in the response. Does not redirect, because no page's address may contain the link. */
async function makeLink(
  { app, request }: RequestContext,
  owner: LinkOwner,
  offer: Pick<DeployOffer, "formats" | "scripts">,
): Promise<Reply> {
  const form = await readForm(request);
  const target = linkTargets(offer).find(({ path }) => path === form.address);
  if (target === undefined) throw new UserError("invalid", "Choose a file for the link.");
  const days = linkDayChoices(app.config.linkDays).find((count) => String(count) === form.days);
  if (days === undefined) throw new UserError("invalid", "Choose how long the link is valid.");
  const by = senderOf(request).identity;
  const { address, expires_at } = app.links.make({ owner, address: target.path }, { days, by });
  const script = offer.scripts.find(({ path }) => path === target.path)?.kind;
  const until = utcDay(expires_at);
  const { section } = owners[owner.kind];
  const record = recordOf(app.store, owner);
  app.store.audit.record("link-made", { record, what: `${target.path}, until ${until}` });
  const service = serviceUrl(request, app.config) ?? "";
  const snippets = snippetsOf(service + address, String(target.label), script);
  const back = { label: html`<bdi>${record.name}</bdi>`, path: pathsOf(owner).page };
  const isLoopbackOnly = service !== "" && isLoopback(service);
  const made = { fileName: String(target.label), expires_at, snippets, back, section, isLoopbackOnly };
  return htmlReply(linkPage(pageContextOf(request), made));
}

function snippetsOf(url: string, fileName: string, script: string | undefined) {
  const isRun = script === "install" || script === "diagnose";
  return [
    { label: "Link", text: url },
    isRun
      ? { label: "Download and run, in PowerShell as administrator", text: downloadAndRunCommand(url) }
      : { label: "Download with PowerShell", text: webRequestCommand(url, fileName) },
    { label: "Download with curl", text: curlCommand(url), hint: "In PowerShell: curl.exe." },
  ];
}
