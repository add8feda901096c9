import type { App } from "../app.ts";
import { utcDay } from "../domain/day.ts";
import { chooseDeployment } from "../domain/deployment-choice.ts";
import { driverTitle } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import { type LinkOwner, linkDays } from "../domain/link.ts";
import type { DeployOffer } from "../html/deploy.ts";
import { html } from "../html/html.ts";
import { linkable, linkPage } from "../html/links.ts";
import { paths } from "../html/paths.ts";
import { curlCommand, fetchedCommand, webRequestCommand } from "../pkg/scripts/commands.ts";
import { driversOfPrinter } from "../services/deployable.ts";
import { deployedModels } from "../services/driver-models.ts";
import { askerOf } from "./access/asker.ts";
import { htmlReply, type Reply, redirect } from "./answers/reply.ts";
import { clientOffer, driverOffer, printerOffer } from "./deploy-offer.ts";
import { frameOf } from "./frame.ts";
import { readForm } from "./requests/forms.ts";
import type { Context, RequestContext } from "./router.ts";
import { isLoopback, serviceUrl } from "./service-url.ts";

interface NamedOwner extends LinkOwner {
  readonly name: string;
}

/** A record with what can be downloaded of it. */
interface Linked {
  readonly record: NamedOwner;
  readonly offer: Pick<DeployOffer, "formats" | "scripts">;
  readonly path: string;
  readonly place: string;
}

/** `POST /printers/{id}/links` */
export async function ofPrinter(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const details = app.store.printers.get(id);
  const { name } = details.printer;
  const { driver, arm64Driver } = driversOfPrinter(app.store, details.printer);
  if (driver === undefined)
    throw new UserError("invalid", "This printer has no driver yet, so there is nothing to link to.");
  const { siblings } = await app.overview.printer(id);
  const offer = printerOffer(
    app,
    request,
    details,
    { printer: details.printer, driver, arm64Driver },
    siblings,
  );
  const record = { kind: "printer", id, name } as const;
  return makeLink(context, { record, offer, path: paths.printer(id), place: "Printers" });
}

/** `POST /clients/{id}/links` */
export async function ofClient(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const client = app.store.clients.get(id);
  const { goesIn } = chooseDeployment(await app.overview.ofClient(id));
  const offer = clientOffer(app, request, client, goesIn);
  const record = { kind: "client", id, name: client.name } as const;
  return makeLink(context, { record, offer, path: paths.client(id), place: "Clients" });
}

/** `POST /drivers/{id}/links` */
export async function ofDriver(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const driver = app.store.drivers.get(id);
  const offer = driverOffer(app, request, driver, deployedModels(app.store, driver).models);
  const record = { kind: "driver", id, name: driverTitle(driver) } as const;
  return makeLink(context, { record, offer, path: paths.driver(id), place: "Drivers" });
}

/** `POST /printers/{id}/links/end` */
export function endPrinter({ app, id }: Context<"id">): Promise<Reply> {
  const { name } = app.store.printers.get(id).printer;
  return endLinks(app, { kind: "printer", id, name }, paths.printer(id));
}

/** `POST /clients/{id}/links/end` */
export function endClient({ app, id }: Context<"id">): Promise<Reply> {
  const { name } = app.store.clients.get(id);
  return endLinks(app, { kind: "client", id, name }, paths.client(id));
}

/** `POST /drivers/{id}/links/end` */
export function endDriver({ app, id }: Context<"id">): Promise<Reply> {
  const name = driverTitle(app.store.drivers.get(id));
  return endLinks(app, { kind: "driver", id, name }, paths.driver(id));
}

async function endLinks(app: App, record: NamedOwner, path: string): Promise<Reply> {
  await app.links.revoke(record);
  return redirect(`${path}?done=links`);
}

/** The answer shows the link, which no address of ours does. */
async function makeLink(context: RequestContext, { record, offer, path, place }: Linked): Promise<Reply> {
  const { app, request } = context;
  const form = await readForm(request);
  const target = linkable(offer).find(({ path }) => path === form.address);
  if (target === undefined) throw new UserError("invalid", "Choose what the link leads to.");
  const days = linkDays(app.config.linkDays).find((count) => String(count) === form.days);
  if (days === undefined) throw new UserError("invalid", "Choose how long the link holds.");
  const by = askerOf(request).identity;
  const { address, expires_at } = app.links.make({ owner: record, address: target.path }, { days, by });
  const script = offer.scripts.find(({ path }) => path === target.path)?.kind;
  const until = utcDay(expires_at);
  app.store.audit.note("link-made", { record, what: `${target.path}, until ${until}` });
  const service = serviceUrl(request, app.config) ?? "";
  const snippets = snippetsOf(service + address, String(target.label), script);
  const back = { label: html`<bdi>${record.name}</bdi>`, path };
  const isOwnOnly = service !== "" && isLoopback(service);
  const made = { fileName: String(target.label), expires_at, snippets, back, place, isOwnOnly };
  return htmlReply(linkPage(frameOf(request), made));
}

function snippetsOf(url: string, fileName: string, script: string | undefined) {
  const isRun = script === "install" || script === "diagnose";
  return [
    { label: "Link", text: url },
    ...(isRun
      ? [{ label: "Fetch and run it, in an elevated PowerShell", text: fetchedCommand(url) }]
      : [{ label: "Download it in PowerShell", text: webRequestCommand(url, fileName) }]),
    { label: "Download it from a shell", text: curlCommand(url), hint: "In PowerShell: curl.exe." },
  ];
}
