import { isLimited, mayUse } from "../../domain/access/access.ts";
import type { LinkOwner } from "../../domain/access/link.ts";
import { groupBy } from "../../domain/collections.ts";
import type { Client } from "../../domain/printers/client.ts";
import { paths, pathsOf } from "../../html/paths.ts";
import { intune } from "../../pkg/formats/intune.ts";
import type { PublishScript } from "../../services/deploy/publish.ts";
import { clientGroup, groupOfClient } from "../../services/printers/printer-group.ts";
import { bytesDownload, type Download, type Reply } from "../answers/reply.ts";
import { audited } from "../audited-downloads.ts";
import type { Context, RequestContext } from "../router.ts";
import { senderOf } from "../sender.ts";
import { serviceUrl } from "../service-url.ts";
import { urlsIn } from "./owners.ts";

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
  const partOf = async (client: Client) => ({
    client,
    group: groupOfClient(client, rows.get(client.id) ?? [], false),
    urls: await partUrls(context, { kind: "client", id: client.id }),
  });
  // At once, so that new links are saved together.
  const clients = await Promise.all(app.store.clients.list().map(partOf));
  const others = rows.get(undefined)?.length ?? 0;
  const knowsAll = mayUse(senderOf(request).identity, "viewer");
  return app.packages.publisher.ofAll(clients, others, { knowsAll, signal: context.signal });
}

/** @throws UserError "not-found", or "invalid" with the remedy */
export async function printerPublish(context: Context<"id">): Promise<PublishScript> {
  const { app, id } = context;
  const details = app.store.printers.get(id);
  const { row, siblings } = await app.overview.printer(id);
  const recipient = await recipientFor(context, { kind: "printer", id });
  return app.packages.publisher.ofPrinter(details, { findings: row.findings, siblings }, recipient);
}

/** @throws UserError as `printerPublish` does */
export async function clientPublish(context: Context<"id">): Promise<PublishScript> {
  const { app, id } = context;
  const client = app.store.clients.get(id);
  const group = await clientGroup(app.overview, client, false);
  const recipient = await recipientFor(context, { kind: "client", id });
  return app.packages.publisher.ofClient(client, group, recipient);
}

/** @throws UserError as `printerPublish` does */
export async function driverPublish(context: Context<"id">): Promise<PublishScript> {
  const { app, id } = context;
  const driver = app.store.drivers.get(id);
  return app.packages.publisher.ofDriver(driver, await recipientFor(context, { kind: "driver", id }));
}

/** The sender's rights, and the URLs for their script. @param whose the printer, client or driver to publish */
async function recipientFor(context: RequestContext, whose: LinkOwner) {
  const { identity } = senderOf(context.request);
  const rights = { knowsAll: mayUse(identity, "viewer"), isLimited: isLimited(identity) };
  return { ...(await partUrls(context, whose)), ...rights, signal: context.signal };
}

/** The URLs in the part of a script that publishes this printer, client or driver. */
async function partUrls(context: RequestContext, whose: LinkOwner) {
  const service = serviceUrl(context.request);
  const { publish } = pathsOf(whose);
  const url = service === undefined ? () => "" : await urlsIn(context, service, publish);
  const packageUrl = (owner: LinkOwner, omitsDriver: boolean) => {
    const path = pathsOf(owner).package(intune.id);
    return url(omitsDriver ? paths.withoutDrivers(path) : path);
  };
  return { scriptUrl: url(publish), packageUrl };
}
