import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { chosenInf, type Driver, driverTitle, parseDriver } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import type { FormInput } from "../domain/fields.ts";
import type { AddedDriver } from "../domain/listings.ts";
import { driverPage, driverSettings, modelList, modelOptions } from "../html/driver.ts";
import { driverList, driversPage } from "../html/drivers.ts";
import { refusalMessage } from "../html/error.ts";
import type { FormState } from "../html/form.ts";
import { type Html, html } from "../html/html.ts";
import { type Message, notify } from "../html/layout.ts";
import { deletedMessage } from "../html/messages.ts";
import { paths } from "../html/paths.ts";
import { addDriver } from "../services/drivers.ts";
import { wantedOf } from "../services/source-files.ts";
import { answerForm, removing, saving, sentForm, uploading } from "./answer-form.ts";
import { assets } from "./assets.ts";
import { readForm } from "./forms.ts";
import { clientOf } from "./limits.ts";
import { packageReply } from "./packages.ts";
import { htmlReply, type Reply } from "./reply.ts";
import type { Context } from "./router.ts";
import { deletedPath, undoMessage } from "./undo.ts";
import { receiveUpload } from "./uploads.ts";

/** `GET /drivers` */
export async function index({ app, url }: Context): Promise<Reply> {
  const { drivers } = await app.overview.read();
  const message = undoMessage(app, url);
  return htmlReply(driversPage({ assets, message }, drivers, undefined, app.config.uploadLimitBytes));
}

/** `POST /drivers/upload` */
export async function upload({ app, request }: Context): Promise<Reply> {
  const limitBytes = app.config.uploadLimitBytes;
  const uploaded = await uploading(() => receiveDriver(app, request));
  const result = uploaded.error ? { problem: uploaded.error.message } : uploaded.value;
  return answerForm(request, uploaded, {
    redirect: ({ driver }) => paths.driver(driver.id),
    page: async () => driversPage({ assets }, (await app.overview.read()).drivers, result, limitBytes),
    fragment: async () => driverList((await app.overview.read()).drivers, result),
  });
}

async function receiveDriver(app: App, request: IncomingMessage): Promise<AddedDriver> {
  const limitBytes = app.config.uploadLimitBytes;
  const tooLarge = () => driverTooLarge(limitBytes);
  const reader = app.inspections;
  const { fileName, result } = await receiveUpload(app.store, request, { limitBytes, tooLarge, reader });
  return addDriver(app, result, fileName, clientOf(request.socket.remoteAddress ?? ""));
}

function driverTooLarge(limit: number): UserError {
  const megabytes = Math.round(limit / 1024 / 1024);
  return new UserError(
    "too-large",
    `This ZIP is larger than ${megabytes} MB, which is the most that this service takes (UPLOAD_LIMIT_MB).`,
  );
}

/** `GET /drivers/{id}` */
export async function show({ app, id, url }: Context<"id">): Promise<Reply> {
  const message = undoMessage(app, url);
  return htmlReply(await driverPageOf(app, id, url.searchParams.get("q") ?? "", undefined, message));
}

async function driverPageOf(
  app: App,
  id: number,
  query: string,
  form?: FormState,
  message?: Message,
): Promise<Html> {
  const driver = app.store.drivers.get(id);
  const { printers, driversById } = await app.overview.read();
  const standing = driversById.get(id);
  if (standing === undefined) throw new Error(`the driver ${id} is not among all drivers`);
  const users = printers.filter((row) => row.driver?.id === id);
  return driverPage(
    { assets, message },
    { driver, printers: users, form: form ?? formOf(driver), query, standing },
  );
}

function formOf({ name, comment, trust_publisher, drop_unused }: Driver): FormState {
  const ticked = (is: boolean) => (is ? "on" : "");
  return sentForm({
    name,
    comment,
    trust_publisher: ticked(trust_publisher),
    drop_unused: ticked(drop_unused),
  });
}

/** `GET /drivers/{id}/models`: the models that a search finds, as radio buttons or as suggestions */
export function models({ app, id, url }: Context<"id">): Reply {
  const driver = app.store.drivers.get(id);
  const query = url.searchParams.get("q") ?? url.searchParams.get("driver_desc") ?? "";
  const inf = chosenInf(driver);
  if (url.searchParams.has("suggest")) return htmlReply(modelOptions(inf, query));
  return htmlReply(modelList(inf, driver.driver_desc, query));
}

/** `POST /drivers/{id}` */
export async function update({ app, request, id }: Context<"id">): Promise<Reply> {
  const { drivers } = app.store;
  const form = withTypedModel(await readForm(request));
  const driver = drivers.get(id);
  const saved = await saving(async () => {
    const settings = parseDriver(form, driver);
    await drivers.update(id, settings);
    const { onlyUsedBy } = wantedOf({ ...driver, ...settings });
    if (onlyUsedBy !== wantedOf(driver).onlyUsedBy) app.packages.prepare(driver);
  });
  return answerForm(request, saved, {
    redirect: () => paths.driver(id),
    page: (error) => driverPageOf(app, id, "", sentForm(form, error)),
    fragment: ({ error }) => settingsOf(drivers.get(id), error && sentForm(form, error)),
  });
}

function settingsOf(driver: Driver, form = formOf(driver)): Html {
  return driverSettings({ driver, form, query: "" });
}

/** A model that was typed counts more than one that was chosen from the list. */
function withTypedModel(form: FormInput): FormInput {
  const typed = form.driver_desc_typed?.trim();
  return typed ? { ...form, driver_desc: typed } : form;
}

/** `DELETE /drivers/{id}`, and `POST /drivers/{id}/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  const name = driverTitle(app.store.drivers.get(id));
  const removed = await removing(request, () => app.undo.removeDriver(id));
  return answerForm(request, removed, {
    redirect: (deletion) => deletedPath(paths.drivers, deletion),
    page: (error) => driverPageOf(app, id, "", undefined, refusalMessage(error)),
    fragment: async ({ value }) =>
      html`${driverList((await app.overview.read()).drivers)}${notify(deletedMessage(name, value))}`,
  });
}

/** `GET /drivers/{id}/archive`: the ZIP as uploaded */
export async function archive({ app, id }: Context<"id">): Promise<Reply> {
  return packageReply(await app.packages.archiveOf(app.store.drivers.get(id)));
}

/** `GET /drivers/{id}/files`: the driver's files as packages hold them */
export async function files({ app, id }: Context<"id">): Promise<Reply> {
  return packageReply(await app.packages.filesOf(app.store.drivers.get(id)));
}
