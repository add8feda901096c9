import { needsSignIn } from "../config.ts";
import { mayUse } from "../domain/access.ts";
import type { AuditedRecord } from "../domain/audit.ts";
import type { LinkBringer, LinkOwner } from "../domain/link.ts";
import { paths } from "../html/paths.ts";
import { mdm } from "../pkg/formats/mdm.ts";
import { clientGroup } from "../services/printer-group.ts";
import { askerOf } from "./access/asker.ts";
import { bytesDownload, type Reply } from "./answers/reply.ts";
import { audited } from "./downloads.ts";
import { driverRecord } from "./driver-packages.ts";
import type { Context, RequestContext } from "./router.ts";
import { serviceUrl } from "./service-url.ts";

// Scripts that put packages into Intune, from an operator's own PC. They deploy nothing before they run: nothing is counted.

/** `GET /printers/{id}/publish` */
export async function ofPrinter(context: Context<"id">): Promise<Reply> {
  const { name } = context.app.store.printers.get(context.id).printer;
  return scriptReply(context, await printerPublish(context), { kind: "printer", id: context.id, name });
}

/** `GET /clients/{id}/publish` */
export async function ofClient(context: Context<"id">): Promise<Reply> {
  const { name } = context.app.store.clients.get(context.id);
  return scriptReply(context, await clientPublish(context), { kind: "client", id: context.id, name });
}

/** `GET /drivers/{id}/publish` */
export async function ofDriver(context: Context<"id">): Promise<Reply> {
  return scriptReply(
    context,
    await driverPublish(context),
    driverRecord(context.app.store.drivers.get(context.id)),
  );
}

/** @throws UserError "not-found", or "invalid" with the remedy */
export async function printerPublish(context: Context<"id">): Promise<PublishScript> {
  const { app, id } = context;
  const { clients, printers } = app.store;
  const details = printers.get(id);
  const client = details.client && clients.get(details.client.id);
  const siblings = client === undefined ? [] : (await clientGroup(app.overview, client, false)).goesIn;
  const asker = askerFor(context, { kind: "printer", id });
  return app.packages.publisher.ofPrinter(details, siblings, asker);
}

/** The same for all printers of a client that can be deployed. */
export async function clientPublish(context: Context<"id">): Promise<PublishScript> {
  const { app, id } = context;
  const client = app.store.clients.get(id);
  const group = await clientGroup(app.overview, client, false);
  const asker = askerFor(context, { kind: "client", id });
  return app.packages.publisher.ofClient(client, group, asker);
}

/** The same for a driver by itself. */
export function driverPublish(context: Context<"id">): Promise<PublishScript> {
  const { app, id } = context;
  const driver = app.store.drivers.get(id);
  return app.packages.publisher.ofDriver(driver, askerFor(context, undefined));
}

const packagePaths = { printer: paths.package, client: paths.clientPackage, driver: paths.driverPackage };

/** @param bringer whose script it is; undefined for a driver's own */
function askerFor({ app, request }: RequestContext, bringer: LinkBringer | undefined) {
  const { identity } = askerOf(request);
  const service = serviceUrl(request, app.config) ?? "";
  const packageUrl = (owner: LinkOwner, isApart: boolean) => {
    const path = packagePaths[owner.kind](owner.id, mdm.id);
    const address = isApart ? paths.apart(path) : path;
    if (service === "" || !needsSignIn(app.config)) return service && service + address;
    const isOwn = bringer?.kind === owner.kind && bringer.id === owner.id;
    const making = { days: app.config.linkDays, by: identity, bringer: isOwn ? undefined : bringer };
    return service + app.links.make({ owner, address }, making).address;
  };
  return { service, packageUrl, knowsAll: mayUse(identity, "viewer") };
}

interface PublishScript {
  readonly bytes: Uint8Array;
  readonly fileName: string;
  readonly sha256: string;
}

function scriptReply(
  context: RequestContext,
  { bytes, fileName, sha256 }: PublishScript,
  record: AuditedRecord,
): Reply {
  const etag = `publish-${sha256.slice(0, 32)}`;
  const download = bytesDownload(bytes, { type: "text/plain; charset=utf-8", fileName, etag });
  return audited(context, { what: "publish", record }, download);
}
