import { isLimited, mayUse } from "../../domain/access/access.ts";
import type { LinkOwner } from "../../domain/access/link.ts";
import { paths, pathsOf } from "../../html/paths.ts";
import { intune } from "../../pkg/formats/intune.ts";
import type { PublicationState } from "../../pkg/scripts/publish-script.ts";
import { clientGroup } from "../../services/printers/printer-group.ts";
import { bytesDownload, type Download, type Reply } from "../answers/reply.ts";
import { audited } from "../audited-downloads.ts";
import type { Context, RequestContext } from "../router.ts";
import { senderOf } from "../sender.ts";
import { serviceUrl } from "../service-url.ts";
import { urlsIn } from "./owners.ts";
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
  const clients = [];
  const names = app.store.clients.names();
  // At once, so that new links are saved together.
  const urls = await Promise.all(names.map(({ id }) => partUrls(context, { kind: "client", id })));
  for (const [i, { id }] of names.entries()) {
    // A client may be deleted meanwhile.
    const client = app.store.clients.find(id);
    const parts = urls[i];
    if (client === undefined || parts === undefined) continue;
    const group = await clientGroup(app.overview, client, false);
    clients.push({ client, group, urls: parts });
  }
  const { printers } = await app.overview.read();
  const others = printers.filter(({ client }) => client === undefined).length;
  const knowsAll = mayUse(senderOf(request).identity, "viewer");
  return app.packages.publisher.ofAll(clients, others, { knowsAll });
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
  return { ...(await partUrls(context, whose)), ...rights };
}

/** The URLs in the part of a script that publishes this printer, client or driver. */
async function partUrls(context: RequestContext, whose: LinkOwner) {
  const { app, request } = context;
  const service = serviceUrl(request, app.config);
  const { publish } = pathsOf(whose);
  const url = service === undefined ? () => "" : await urlsIn(context, service, publish);
  const packageUrl = (owner: LinkOwner, omitsDriver: boolean) => {
    const path = pathsOf(owner).package(intune.id);
    return url(omitsDriver ? paths.withoutDrivers(path) : path);
  };
  return { scriptUrl: url(publish), packageUrl };
}

interface PublishScript extends NamedScript {
  readonly sha256: string;
  readonly states: readonly PublicationState[];
}
