import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { chosenInf, type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import type { DriverEffects } from "../../domain/drivers/driver-effects.ts";
import { driverFormValues, isFromForm } from "../../domain/drivers/driver-fields.ts";
import { isWindowsOwn } from "../../domain/drivers/windows-drivers.ts";
import type { UserError } from "../../domain/errors.ts";
import { cleanText, type FormInput } from "../../domain/fields.ts";
import type { AddedDriver } from "../../domain/printers/listings.ts";
import type { DriverDeploy } from "../../html/drivers/driver.ts";
import { driverPage, driverSettings } from "../../html/drivers/driver.ts";
import { confirmation, confirmPage } from "../../html/drivers/driver-confirm.ts";
import { choiceOf, infAndModel } from "../../html/drivers/driver-infs.ts";
import { driverMessage, movedMessage, uploadedMessage } from "../../html/drivers/driver-messages.ts";
import { modelList, modelOptions } from "../../html/drivers/driver-models.ts";
import { modelAnswer, modelQuestion } from "../../html/drivers/driver-upload.ts";
import { driverList, driverRowsAnew } from "../../html/drivers/drivers.ts";
import { unusedHintAnew } from "../../html/drivers/unused.ts";
import { refusalMessage } from "../../html/error.ts";
import type { FormState } from "../../html/form.ts";
import { type Html, html } from "../../html/html.ts";
import { type Message, notify } from "../../html/layout.ts";
import { deletedMessage, doneIn } from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import { saveDriver } from "../../services/drivers/driver-changes.ts";
import { aloneProblem, deployedModels } from "../../services/drivers/driver-models.ts";
import { answerForm, isNavigation, recordForm, removing, saving, sentForm } from "../answer-form.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { driverOffer } from "../deploy/deploy-offer.ts";
import { narrowingBehind } from "../list-filter.ts";
import { frameOf, linksMessage } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import type { Context } from "../router.ts";
import { removedPath, undoMessage } from "../undo-message.ts";
import { driversShown } from "./drivers.ts";

/** `GET /drivers/{id}` */
export async function show(context: Context<"id">): Promise<Reply> {
  const { app, id, url } = context;
  const query = url.searchParams.get("q") ?? "";
  return htmlReply(await pageOf(context, { query }, await messageIn(app, id, url)));
}

/** What an address says became of a change. */
async function messageIn(app: App, id: number, url: URL): Promise<Message | undefined> {
  const { searchParams: query } = url;
  const undone = undoMessage(app, url) ?? linksMessage(url);
  if (undone !== undefined || url.search === "") return undone;
  const moved = app.outcomes.find("moved", query.get("moved"));
  if (moved?.driverId === id) return movedMessage(moved.count, app.store.drivers.get(id));
  const uploaded = uploadedIn(query.get("uploaded"));
  const { driver, printers } = await app.overview.driver(id);
  if (uploaded !== undefined) return uploadedMessage(uploaded, driver, app.overview.olderThan(driver));
  const blocked = printers.filter(({ state }) => state === "blocked");
  return driverMessage(doneIn(query), driver, blocked.length);
}

function uploadedIn(what: string | null): Pick<AddedDriver, "isNew" | "mended"> | undefined {
  if (what === "new" || what === "known") return { isNew: what === "new" };
  return what === "missing" || what === "damaged" ? { isNew: false, mended: what } : undefined;
}

/** What the form shows in place of what is stored. */
interface Shown {
  readonly form?: FormState;
  readonly query?: string;
  readonly isOpen?: boolean;
}

async function pageOf({ app, request, id }: Context<"id">, visible: Shown, message?: Message): Promise<Html> {
  const driver = app.store.drivers.get(id);
  const { driver: stated, printers } = await app.overview.driver(id);
  const { form = recordForm(driverFormValues(driver)), query = "", isOpen = false } = visible;
  const data = {
    driver,
    printers,
    form,
    query,
    isOpen,
    stated,
    isFinal: await app.store.isNearlyFull(),
    deploy: isWindowsOwn(driver) ? undefined : deployOf(app, request, driver),
  };
  return driverPage(frameOf(request, message), data);
}

function deployOf(app: App, request: IncomingMessage, driver: Driver): DriverDeploy {
  const deployed = deployedModels(app.store, driver);
  const { models } = deployed;
  return {
    ...deployed,
    problem: aloneProblem(driver, models),
    offer: driverOffer(app, request, driver, models),
  };
}

/** `GET /drivers/{id}/models`: the models that a search finds, as radio buttons or as suggestions */
export function models({ app, id, url: { searchParams: asked } }: Context<"id">): Reply {
  const driver = app.store.drivers.get(id);
  const query = asked.get("q") ?? "";
  if (asked.has("suggest")) return htmlReply(modelOptions(driver, chosenInf(driver), query));
  const picked = pickedIn(driver, asked.get("pick") ?? undefined);
  if (picked !== undefined) {
    const { inf, model } = picked;
    return htmlReply(html`${infAndModel(choiceOf(driver, inf, model, ""), true)}${unusedHintAnew(inf)}`);
  }
  const path = cleanText(asked.get("inf_path") ?? driver.inf_path);
  const inf = driver.report.infs.find((known) => cleanText(known.path) === path);
  const choice = choiceOf(driver, inf, asked.get("driver_desc") ?? undefined, query);
  return htmlReply(html`${modelList(choice)}${unusedHintAnew(inf)}`);
}

/** A model of any INF of the archive, by the INF's place in the report and the model's name. */
function pickedIn(driver: Driver, pick: string | undefined) {
  if (pick === undefined) return undefined;
  const end = pick.indexOf(":");
  const inf = driver.report.infs[Number(pick.slice(0, Math.max(0, end)))];
  return inf && { inf, model: cleanText(pick.slice(end + 1)) };
}

/** `POST /drivers/{id}` */
export async function update(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const form = await readForm(request);
  if (isFromForm(form) && (form.show !== undefined || form.pick !== undefined)) {
    return unsaved(context, form);
  }
  const saved = await saving(() => saveDriver(app, id, form));
  if (saved.value?.isSaved === false) return confirm(context, form, saved.value);
  const isQuestion = form.from_upload !== undefined;
  const now = driverFormValues(app.store.drivers.get(id));
  const visible = { form: sentForm(form, saved.error, now), query: "" };
  const reply = await answerForm(request, saved, {
    redirect: ({ effects }) => savedPath(id, effects),
    page: () => pageOf(context, visible),
    fragment: async ({ error }) => {
      const driver = app.store.drivers.get(id);
      if (isQuestion) return answerTo(context, driver, error);
      return driverSettings(error ? { driver, ...visible } : { driver, form: recordForm(now), query: "" });
    },
  });
  // A script shows the whole page anew: what was saved stands in every part of it.
  if (reply.kind !== "text" || saved.value === undefined || isQuestion) return reply;
  return { ...reply, headers: { "HX-Redirect": savedPath(id, saved.value.effects) } };
}

/** What takes the place of an upload's question for the model. */
async function answerTo(
  { app, request }: Context<"id">,
  driver: Driver,
  error: UserError | undefined,
): Promise<Html> {
  if (error !== undefined) return modelQuestion(driver, error.message);
  const list = await driversShown(app, narrowingBehind(request, "drivers"));
  return html`${modelAnswer(driver)}${driverRowsAnew(list)}`;
}

function savedPath(id: number, { redeployed }: DriverEffects): string {
  return `${paths.driver(id)}?done=${redeployed.length > 0 ? "redeploy" : "saved"}`;
}

/** Answers the form as it was sent, with the models of the INF that is chosen in it. */
async function unsaved(context: Context<"id">, form: FormInput): Promise<Reply> {
  const { app, request, id } = context;
  const driver = app.store.drivers.get(id);
  const picked = pickedIn(driver, form.pick);
  const values = picked ? { ...form, inf_path: picked.inf.path, driver_desc: picked.model, q: "" } : form;
  const visible = { form: sentForm(values), query: values.q ?? "", isOpen: true };
  return htmlReply(
    isNavigation(request) ? await pageOf(context, visible) : driverSettings({ driver, ...visible }),
  );
}

/** `DELETE /drivers/{id}`, and `POST /drivers/{id}/delete` */
export async function remove(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  const name = driverTitle(app.store.drivers.get(id));
  const removed = await removing(request, () => app.undo.removeDriver(id));
  return answerForm(request, removed, {
    redirect: (deletion) => removedPath(app, paths.drivers, name, deletion),
    page: (error) => pageOf(context, {}, refusalMessage(error)),
    fragment: async ({ value }) =>
      html`${driverList(await driversShown(app))}${notify(deletedMessage(name, value))}`,
  });
}

/** Says what a save does before it is done. */
function confirm(
  { app, request, id }: Context<"id">,
  form: FormInput,
  { effects, isStale }: { readonly effects: DriverEffects; readonly isStale: boolean },
): Reply {
  const data = { driver: app.store.drivers.get(id), form, effects, isStale };
  return htmlReply(isNavigation(request) ? confirmPage(frameOf(request), data) : confirmation(data));
}
