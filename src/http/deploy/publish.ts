import { isLimited, mayUse } from "../../domain/access/access.ts";
import type { LinkOwner, LinkSource } from "../../domain/access/link.ts";
import { groupBy } from "../../domain/collections.ts";
import { paths, pathsOf } from "../../html/paths.ts";
import { intune } from "../../pkg/formats/intune.ts";
import type { PublicationState } from "../../pkg/scripts/publish-script.ts";
import { clientGroup, groupOfClient } from "../../services/printers/printer-group.ts";
import { bytesDownload, type Download, type Reply } from "../answers/reply.ts";
import { audited } from "../audited-downloads.ts";
import type { Context, RequestContext } from "../router.ts";
import { senderOf } from "../sender.ts";
import { serviceUrl } from "../service-url.ts";
import { fetchUrl } from "./owners.ts";
import type { NamedScript } from "./packages.ts";

// Scripts that publish packages to Intune from an operator's PC. Downloading one is not a deployment.

/** `GET /printers/{id}/publish` */
export const ofPrinter = publishDownload("printer", printerPublish);

/** `GET /clients/{id}/publish` */
export const ofClient = publishDownload("client", clientPublish);

/** `GET /drivers/{id}/publish` */
export const ofDriver = publishDownload("driver", driverPublish);

function publishDownload(kind: LinkOwner["kind"], make: (context: Context<"id">) => Promise<PublishScript>) {
  return async (context: Context<"id">): Promise<Reply> => {
    const download = scriptReply(await make(context));
    return audited(context, { what: "publish", owner: { kind, id: context.id } }, download);
  };
}

/** `GET /publish`: all clients, each with its tenant */
export async function ofAll(context: Context): Promise<Reply> {
  return audited(context, { what: "publish" }, scriptReply(await shopPublish(context)));
}

function scriptReply({ bytes, fileName, sha256, states }: PublishScript): Download {
  // Scripts that were downloaded earlier compare the last two parts with their own, to detect changes.
  const state = states.length === 1 ? states[0] : undefined;
  const etag = `publish-${sha256.slice(0, 32)}${state ? `-${state.apps}-${state.records}` : ""}`;
  return bytesDownload(bytes, { type: "text/plain; charset=utf-8", fileName, etag });
}

/** @throws UserError "invalid" with the remedy */
async function shopPublish(context: Context): Promise<PublishScript> {
  const { app, request } = context;
  const { printers } = await app.overview.read();
  const rows = groupBy(printers, ({ client }) => client?.id);
  const clients = app.store.clients.list().map((client) => ({
    client,
    group: groupOfClient(client, rows.get(client.id) ?? [], false),
    urls: partUrls(context, { kind: "client", id: client.id }),
  }));
  const others = rows.get(undefined)?.length ?? 0;
  const knowsAll = mayUse(senderOf(request).identity, "viewer");
  return app.packages.publisher.ofAll(clients, others, { knowsAll, signal: context.signal });
}

/** @throws UserError "not-found", or "invalid" with the remedy */
export async function printerPublish(context: Context<"id">): Promise<PublishScript> {
  const { app, id } = context;
  const details = app.store.printers.get(id);
  const { row, siblings } = await app.overview.printer(id);
  const recipient = recipientFor(context, { kind: "printer", id });
  return app.packages.publisher.ofPrinter(details, { findings: row.findings, siblings }, recipient);
}

/** @throws UserError as `printerPublish` does */
export async function clientPublish(context: Context<"id">): Promise<PublishScript> {
  const { app, id } = context;
  const client = app.store.clients.get(id);
  const group = await clientGroup(app.overview, client, false);
  return app.packages.publisher.ofClient(client, group, recipientFor(context, { kind: "client", id }));
}

/** @throws UserError as `printerPublish` does */
export function driverPublish(context: Context<"id">): Promise<PublishScript> {
  const { app, id } = context;
  const driver = app.store.drivers.get(id);
  return app.packages.publisher.ofDriver(driver, recipientFor(context, { kind: "driver", id }));
}

/** The sender's rights, and the URLs for their script. @param whose the printer, client or driver to publish */
function recipientFor(context: RequestContext, whose: LinkOwner) {
  const { identity } = senderOf(context.request);
  const rights = { knowsAll: mayUse(identity, "viewer"), isLimited: isLimited(identity) };
  return { ...partUrls(context, whose), ...rights, signal: context.signal };
}

/** The URLs in the part of a script that publishes this printer, client or driver. */
function partUrls(context: RequestContext, whose: LinkOwner) {
  const { app, request } = context;
  const service = serviceUrl(request, app.config) ?? "";
  const url = (owner: LinkOwner, address: string) =>
    service && fetchUrl(context, service, { owner, address }, sourceFor(owner, whose));
  const packageUrl = (owner: LinkOwner, omitsDriver: boolean) => {
    const path = pathsOf(owner).package(intune.id);
    return url(owner, omitsDriver ? paths.withoutDrivers(path) : path);
  };
  return { scriptUrl: url(whose, pathsOf(whose).publish), packageUrl };
}

/** The source of a link in the script of `whose`. Undefined for links to `whose` itself, and in a driver's script. */
function sourceFor(owner: LinkOwner, whose: LinkOwner): LinkSource | undefined {
  const isOwn = whose.kind === owner.kind && whose.id === owner.id;
  return isOwn || whose.kind === "driver" ? undefined : { kind: whose.kind, id: whose.id };
}

interface PublishScript extends NamedScript {
  readonly sha256: string;
  readonly states: readonly PublicationState[];
}
