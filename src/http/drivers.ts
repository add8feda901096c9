import type { App } from "../app.ts";
import { chosenInf, parseDriver } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import type { FormInput } from "../domain/fields.ts";
import { driverPage, driverSettings, modelList, modelOptions } from "../html/driver.ts";
import { driverList, driversPage, type UploadResult } from "../html/drivers.ts";
import type { FormState } from "../html/form.ts";
import { html } from "../html/html.ts";
import { notify } from "../html/layout.ts";
import { paths } from "../html/paths.ts";
import { addDriver, removeDriver } from "../services/drivers.ts";
import { assets } from "./assets.ts";
import { isNavigation, readForm, saving } from "./forms.ts";
import { clientOf } from "./limits.ts";
import { receiveFile } from "./multipart.ts";
import { packageReply } from "./packages.ts";
import { htmlReply, type Reply, redirect } from "./reply.ts";
import type { Context } from "./router.ts";

/** `GET /drivers` */
export function index({ app }: Context): Reply {
  return htmlReply(driversPage({ assets }, app.store.drivers.list(), undefined, app.config.uploadLimitBytes));
}

/** `POST /drivers/upload` */
export async function upload({ app, request }: Context): Promise<Reply> {
  const { status, result } = await tryUpload(() => receiveDriver(app, request));
  if (isNavigation(request)) {
    if (result && "driver" in result) return redirect(paths.driver(result.driver.id));
    return htmlReply(
      driversPage({ assets }, app.store.drivers.list(), result, app.config.uploadLimitBytes),
      status,
    );
  }
  return htmlReply(driverList(app.store.drivers.list(), result), status);
}

async function receiveDriver(app: App, request: Context["request"]) {
  const limitBytes = app.config.uploadLimitBytes;
  const { blobs } = app.store;
  const { fileName, result } = await receiveFile(request, {
    limitBytes,
    tooLarge: () => driverTooLarge(limitBytes),
    receive: (stream) => blobs.receive(stream),
    discard: (incoming) => blobs.discard(incoming),
  });
  const added = await addDriver(app, result, fileName, clientOf(request.socket.remoteAddress ?? ""));
  await app.archives.uploaded(result.sha256);
  app.packages.prepare(added.driver);
  return added;
}

function driverTooLarge(limit: number): UserError {
  const megabytes = Math.round(limit / 1024 / 1024);
  return new UserError(
    "too-large",
    `This ZIP is larger than ${megabytes} MB, which is the most that this service takes (UPLOAD_LIMIT_MB).`,
  );
}

/** An upload that is refused is answered with the list, and why. */
async function tryUpload(
  work: () => Promise<UploadResult>,
): Promise<{ status: number; result: UploadResult }> {
  try {
    return { status: 200, result: await work() };
  } catch (error) {
    if (!(error instanceof UserError) || !["invalid", "too-large"].includes(error.code)) throw error;
    return { status: error.code === "too-large" ? 413 : 422, result: { problem: error.message } };
  }
}

/** `GET /drivers/{id}` */
export async function show({ app, id, url }: Context<"id">): Promise<Reply> {
  return htmlReply(await driverPageOf(app, id, url.searchParams.get("q") ?? ""));
}

async function driverPageOf(app: App, id: number, query: string, form?: FormState) {
  const driver = app.store.drivers.get(id);
  const archive = await app.archives.stateOf(driver);
  const printers = app.store.printers.ofDriver(id);
  return driverPage({ assets }, { driver, printers, form: form ?? formOf(driver), query, archive });
}

function formOf(driver: { name: string; comment: string; trust_publisher: boolean }): FormState {
  const { name, comment, trust_publisher } = driver;
  return { values: { name, comment, trust_publisher: trust_publisher ? "on" : "" }, problems: {} };
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
  const form = withTypedModel(await readForm(request));
  const driver = app.store.drivers.get(id);
  const saved = await saving(form, async () => app.store.drivers.update(id, parseDriver(form, driver)));
  if (isNavigation(request)) {
    return saved.ok
      ? redirect(paths.driver(id))
      : htmlReply(await driverPageOf(app, id, "", saved.form), saved.status);
  }
  const after = app.store.drivers.get(id);
  const fragment = driverSettings({ driver: after, form: saved.ok ? formOf(after) : saved.form, query: "" });
  return htmlReply(fragment, saved.ok ? 200 : saved.status);
}

/** A model that was typed counts more than one that was chosen from the list. */
function withTypedModel(form: FormInput): FormInput {
  const typed = form.driver_desc_typed?.trim();
  return typed ? { ...form, driver_desc: typed } : form;
}

/** `DELETE /drivers/{id}`, and `POST /drivers/{id}/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  await removeDriver(app.store, id);
  if (isNavigation(request)) return redirect(paths.drivers);
  return htmlReply(html`${driverList(app.store.drivers.list())}${notify("The driver is deleted.")}`);
}

/** `GET /drivers/{id}/archive`: the ZIP as uploaded */
export async function archive({ app, id }: Context<"id">): Promise<Reply> {
  return packageReply(await app.packages.archiveOf(app.store.drivers.get(id)));
}

/** `GET /drivers/{id}/files`: the driver's files as packages hold them */
export async function files({ app, id }: Context<"id">): Promise<Reply> {
  return packageReply(await app.packages.filesOf(app.store.drivers.get(id)));
}
