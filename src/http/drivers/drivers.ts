import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { hostNetwork } from "../../domain/address.ts";
import {
  type AddedDriver,
  chosenInf,
  type Driver,
  driverTitle,
  infNamed,
} from "../../domain/drivers/driver.ts";
import type { DriverEffects } from "../../domain/drivers/driver-effects.ts";
import { driverFormValues, isFromForm, mergeDriverForm } from "../../domain/drivers/driver-fields.ts";
import { isWindowsDriver } from "../../domain/drivers/windows-drivers.ts";
import { UserError } from "../../domain/errors.ts";
import { cleanText, type FormInput } from "../../domain/fields.ts";
import { mergeForm } from "../../domain/form-versions.ts";
import { type Narrowing, parseNarrowing } from "../../domain/printers/search.ts";
import {
  type DriverDeploy,
  type DriverTab,
  driverPage,
  driverSettings,
  driverTabIn,
} from "../../html/drivers/driver.ts";
import { confirmation, confirmPage } from "../../html/drivers/driver-confirm.ts";
import { driverMessage, movedMessage, uploadedMessage } from "../../html/drivers/driver-messages.ts";
import { choiceOf, infAndModel, modelList, modelOptions } from "../../html/drivers/driver-models.ts";
import { infRemarks, unusedHintUpdate } from "../../html/drivers/driver-remarks.ts";
import { cardName, type UploadResult } from "../../html/drivers/driver-upload.ts";
import { type DriverList, driverList, driversPage } from "../../html/drivers/drivers.ts";
import { refusalMessage } from "../../html/error.ts";
import type { FormState } from "../../html/form.ts";
import { type Html, html } from "../../html/html.ts";
import { type Message, notify, type PageContext } from "../../html/layout.ts";
import { narrowedPath } from "../../html/list-filter.ts";
import { completedChangeIn, deletedMessage } from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import { renderFromPcScript } from "../../pkg/scripts/operator-scripts.ts";
import { type DriverSave, saveDriver } from "../../services/drivers/driver-changes.ts";
import { deployedModels, driverOnlyProblem } from "../../services/drivers/driver-models.ts";
import { addDriver } from "../../services/drivers/drivers.ts";
import {
  answerForm,
  isNavigation,
  type Result,
  recordForm,
  refusedForm,
  sentForm,
  tryRemove,
  trySave,
  tryUpload,
} from "../answer-form.ts";
import { bytesDownload, htmlReply, type Reply } from "../answers/reply.ts";
import { audited } from "../audited-downloads.ts";
import { driverOffer } from "../deploy/deploy-offer.ts";
import { packageReply } from "../deploy/packages.ts";
import { requestedDigests } from "../deploy/script-digests.ts";
import { signedLineOf } from "../deploy/signed-line.ts";
import { narrowingIn, narrowingOfPage, pageIn, withListUrl } from "../list-filter.ts";
import { linksMessage, pageContextOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import { receiveFile } from "../requests/multipart.ts";
import type { Context } from "../router.ts";
import { recheckSender, senderOf } from "../sender.ts";
import { serviceUrl } from "../service-url.ts";
import {
  changeDetailsIn,
  changedPath,
  keptFields,
  removedPath,
  undoMessage,
  withDetails,
  withQuery,
} from "../undo-message.ts";

/** `GET /drivers`, filtered by words, client and state */
export async function index({ app, request, url }: Context): Promise<Reply> {
  const message = undoMessage(app, url);
  const narrowing = narrowingIn(url.searchParams, "drivers");
  const list = await driverListData(app, narrowing);
  const reply = htmlReply(driversPage(pageContextOf(request, message), list, app.config.uploadLimitBytes));
  return withListUrl(request, reply, narrowedPath(paths.drivers, narrowing));
}

/** The data of the driver list. Without `narrowing` it contains all drivers. */
async function driverListData(app: App, narrowing = parseNarrowing({})): Promise<DriverList> {
  const { drivers, windowsDrivers } = await app.overview.read();
  const models = await app.models.find(drivers, narrowing.q);
  return { rows: drivers, windowsDrivers, clients: app.store.clients.names(), narrowing, models };
}

/** `POST /drivers/upload` */
export async function upload({ app, request }: Context): Promise<Reply> {
  const limitBytes = app.config.uploadLimitBytes;
  const uploaded = await tryUpload(() => receiveDriver(app, request));
  const listData = async (narrowing?: Narrowing) => ({
    ...(await driverListData(app, narrowing)),
    result: await uploadResult(app, uploaded),
    chosenClient: clientOfPage(request),
  });
  return answerForm(request, uploaded, {
    redirect: ({ driver, isNew, previousProblem, taken: text }) => {
      const path = paths.driverUploaded(driver.id, isNew ? "new" : (previousProblem ?? "known"));
      return text === undefined
        ? path
        : withQuery(path, "taken", app.results.remember({ kind: "taken", text }));
    },
    record: ({ driver: { id }, isNew, taken }) => ({
      path: paths.driver(id),
      line: `driver ${id} ${isNew ? "saved" : "exists already"}${taken === undefined ? "" : `. ${taken}`}`,
    }),
    page: async () => driversPage(pageContextOf(request), await listData(), limitBytes),
    fragment: async () => driverList(await listData(narrowingOfPage(request, "drivers"))),
  });
}

/** `GET /drivers/from-pc`: the script that uploads drivers of the PC on which it runs */
export function fromPc({ request }: Context): Reply {
  const bytes = renderFromPcScript(serviceUrl(request) ?? "");
  return bytesDownload(bytes, { type: "text/plain; charset=utf-8", fileName: "from-pc.ps1" });
}

/** The client whose page sent the request; undefined for other pages. */
function clientOfPage({ headers }: IncomingMessage): number | undefined {
  const [, id] = /^\/clients\/(\d{1,9})$/.exec(pageIn(headers["hx-current-url"])?.pathname ?? "") ?? [];
  return id === undefined ? undefined : Number(id);
}

async function uploadResult(
  { overview, store }: App,
  { error, value }: Result<AddedDriver>,
): Promise<UploadResult> {
  if (error !== undefined) return { problem: error.message };
  const { id } = value.driver;
  if (!store.drivers.has(id)) return { problem: "This driver was deleted meanwhile." };
  const { driver: withState } = await overview.driver(id);
  return { ...value, withState, older: overview.olderThan(withState) };
}

async function receiveDriver(app: App, request: IncomingMessage): Promise<AddedDriver> {
  const limitBytes = app.config.uploadLimitBytes;
  const limit = { limitBytes, tooLarge: () => driverTooLarge(limitBytes) };
  const { fileName, incoming } = await receiveFile(app.store, request, limit);
  const network = hostNetwork(senderOf(request).address);
  return addDriver(app, incoming, fileName, { network, recheckSender: () => recheckSender(request) });
}

function driverTooLarge(limit: number): UserError {
  const megabytes = Math.round(limit / 1024 / 1024);
  return new UserError(
    "too-large",
    `This ZIP is larger than ${megabytes} MB, the limit of this service (UPLOAD_LIMIT_MB).`,
  );
}

/** `GET /drivers/{id}/archive`: the ZIP as uploaded */
export async function archive(context: Context<"id">): Promise<Reply> {
  const { app, id } = context;
  const driver = app.store.drivers.get(id);
  const reply = packageReply(await app.packages.drivers.archiveOf(driver));
  return audited(context, { what: "archive", owner: { kind: "driver", id } }, reply);
}

/** `GET /drivers/{id}/files`: the driver's files as packages contain them */
export async function files(context: Context<"id">): Promise<Reply> {
  const { app, id } = context;
  const driver = app.store.drivers.get(id);
  const reply = packageReply(await app.packages.drivers.filesOf(driver));
  return audited(context, { what: "files", owner: { kind: "driver", id } }, reply);
}

/** `GET /drivers/{id}` */
export async function show(context: Context<"id">): Promise<Reply> {
  const { app, id, url } = context;
  const query = url.searchParams.get("q") ?? "";
  const view = { query, tab: driverTabIn(url.searchParams) };
  return htmlReply(await pageOf(context, view, await pageMessage(app, id, url)));
}

/** The message for the finished change in the query. */
async function pageMessage(app: App, id: number, url: URL): Promise<Message | undefined> {
  const { searchParams: query } = url;
  const undone = undoMessage(app, url) ?? linksMessage(url);
  if (undone !== undefined || url.search === "") return undone;
  const moved = app.results.find("moved", query.get("moved"));
  if (moved?.driverId === id)
    return withDetails(app, movedMessage(moved.count, app.store.drivers.get(id), moved.worse), moved);
  const uploaded = uploadIn(query.get("uploaded"));
  const { driver, printers } = await app.overview.driver(id);
  const taken = app.results.find("taken", query.get("taken"))?.text;
  if (uploaded !== undefined)
    return uploadedMessage({ ...uploaded, taken }, driver, app.overview.olderThan(driver));
  const blocked = printers.filter(({ state }) => state === "blocked");
  const message = driverMessage(completedChangeIn(query), driver, blocked.length);
  return withDetails(app, message, changeDetailsIn(app, url));
}

function uploadIn(what: string | null): Pick<AddedDriver, "isNew" | "previousProblem"> | undefined {
  if (what === "new" || what === "known") return { isNew: what === "new" };
  return what === "missing" || what === "damaged" ? { isNew: false, previousProblem: what } : undefined;
}

/** How the page shows the driver's form. */
interface FormView {
  /** Values to show instead of the saved ones. */
  readonly form?: FormState;
  /** The search in the list of models. */
  readonly query?: string;
  readonly isUnsaved?: boolean;
  /** The form's tab by default. */
  readonly tab?: DriverTab;
}

async function pageOf(context: Context<"id">, view: FormView, message?: Message): Promise<Html> {
  const { app, request, id } = context;
  const driver = app.store.drivers.get(id);
  const { driver: withState, printers } = await app.overview.driver(id);
  const { form = recordForm(driverFormValues(driver)), query = "", isUnsaved = false, tab = "model" } = view;
  const pageContext = pageContextOf(request, message);
  const data = {
    driver,
    printers,
    form,
    query,
    isUnsaved,
    tab,
    withState,
    isFinal: await app.store.isNearlyFull(),
    deploy: isWindowsDriver(driver) ? undefined : await deployOf(context, driver, pageContext),
  };
  return driverPage(pageContext, data);
}

async function deployOf(context: Context<"id">, driver: Driver, page: PageContext): Promise<DriverDeploy> {
  const { app, request, id } = context;
  const deployed = deployedModels(app.store, driver);
  const { models } = deployed;
  const digests = await requestedDigests(context, "driver");
  const offer = driverOffer(app, request, driver, models, digests);
  const signedLine = await signedLineOf(app, { kind: "driver", id }, page);
  return { ...deployed, problem: driverOnlyProblem(driver, models), offer, signedLine };
}

/** `GET /drivers/{id}/models`: the models that match a search, as radio buttons or suggestions */
export function models({ app, id, url: { searchParams: params } }: Context<"id">): Reply {
  const driver = app.store.drivers.get(id);
  const query = params.get("q") ?? "";
  if (params.has("suggest")) return htmlReply(modelOptions(driver, chosenInf(driver), query));
  const picked = pickedModel(driver, params.get("pick") ?? undefined);
  if (picked !== undefined) {
    const { inf, model } = picked;
    return htmlReply(html`${infAndModel(choiceOf(driver, inf, model, ""), true)}${unusedHintUpdate(inf)}`);
  }
  const inf = infNamed(driver, params.get("inf_path") ?? driver.inf_path);
  const choice = choiceOf(driver, inf, params.get("driver_desc") ?? undefined, query);
  return htmlReply(html`${modelList(choice)}${unusedHintUpdate(inf)}`);
}

/** Parses `index:model`: the INF's index in the report and the name of its model. */
function pickedModel(driver: Driver, pick: string | undefined) {
  if (pick === undefined) return undefined;
  const end = pick.indexOf(":");
  const inf = driver.report.infs[Number(pick.slice(0, Math.max(0, end)))];
  return inf && { inf, model: cleanText(pick.slice(end + 1)) };
}

/** `POST /drivers/{id}` */
export async function update(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const sent = await readForm(request);
  const form =
    sent.only === "drop_unused" || sent.only === "name" ? onlyField(app, id, sent, sent.only) : sent;
  if (isFromForm(form) && (form.show !== undefined || form.pick !== undefined)) {
    return showUnsaved(context, form);
  }
  const saved = await trySave(() => saveDriver(app, id, form));
  if (saved.value?.isSaved === false) return confirm(context, form, saved.value);
  const driver = app.store.drivers.get(id);
  const now = driverFormValues(driver);
  const refused = (error: UserError) => ({
    form: refusedForm(mergeDriverForm(form, driver, mergeForm), now, error),
    query: "",
  });
  const pathAfter = ({ effects: { redeployed }, undo, kept }: DriverSave) => {
    const path = `${paths.driver(id)}?done=${redeployed.length > 0 ? "redeploy" : "saved"}`;
    return changedPath(app, path, { undo, kept: keptFields(app, kept) });
  };
  const reply = await answerForm(request, saved, {
    redirect: pathAfter,
    page: (error) => pageOf(context, refused(error)),
    fragment: async ({ error }) => {
      if (form.only === "name")
        return cardName(driver, "is the driver’s name.", error && refused(error).form);
      if (form.only !== undefined && error === undefined) return infRemarks(driver, "fragment");
      return driverSettings({ driver, ...(error ? refused(error) : { form: recordForm(now), query: "" }) });
    },
  });
  // The page script must load the page again, because every part of it shows saved values.
  if (reply.kind !== "text" || saved.value === undefined || form.only !== undefined) return reply;
  return { ...reply, headers: { "HX-Redirect": pathAfter(saved.value) } };
}

/** A form of the upload's card that changes only this field: everything else stays as it is saved. */
function onlyField({ store }: App, id: number, sent: FormInput, only: "drop_unused" | "name"): FormInput {
  const { driver_desc: _, ...saved } = driverFormValues(store.drivers.get(id));
  return { ...saved, only, [only]: sent[only] };
}

/** Shows the form as it was sent, with the models of the INF chosen in it. Saves nothing. */
async function showUnsaved(context: Context<"id">, form: FormInput): Promise<Reply> {
  const { app, request, id } = context;
  const driver = app.store.drivers.get(id);
  const picked = pickedModel(driver, form.pick);
  const values = picked ? { ...form, inf_path: picked.inf.path, driver_desc: picked.model, q: "" } : form;
  const view = { form: sentForm(values), query: values.q ?? "", isUnsaved: true };
  return htmlReply(isNavigation(request) ? await pageOf(context, view) : driverSettings({ driver, ...view }));
}

/** `DELETE /drivers/{id}`, and `POST /drivers/{id}/delete` */
export async function remove(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const name = driverTitle(app.store.drivers.get(id));
  const removed = await tryRemove(request, () => app.undo.removeDriver(id));
  return answerForm(request, removed, {
    redirect: (deletion) => removedPath(app, paths.drivers, name, deletion),
    page: (error) => pageOf(context, { tab: "printers" }, refusalMessage(error)),
    fragment: async ({ value }) =>
      html`${driverList(await driverListData(app))}${notify(deletedMessage(name, value))}`,
  });
}

/** Shows the effects of a save and asks for confirmation. */
function confirm(
  { app, request, id }: Context<"id">,
  form: FormInput,
  { effects, isStale }: { readonly effects: DriverEffects; readonly isStale: boolean },
): Reply {
  const data = { driver: app.store.drivers.get(id), form, effects, isStale };
  return htmlReply(isNavigation(request) ? confirmPage(pageContextOf(request), data) : confirmation(data));
}
