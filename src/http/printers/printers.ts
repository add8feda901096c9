import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import type { ChangeDetails } from "../../domain/deletion.ts";
import { isForPrinters } from "../../domain/drivers/driver.ts";
import { modelProblem } from "../../domain/drivers/driver-fields.ts";
import { ippDriverId } from "../../domain/drivers/windows-drivers.ts";
import { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { checkedMerge, mergeForm } from "../../domain/form-versions.ts";
import { type State, states } from "../../domain/printers/findings.ts";
import { twinOf, twinProblem } from "../../domain/printers/ipp-twin.ts";
import type { PrinterDetails } from "../../domain/printers/listings.ts";
import type { Printer, PrinterSettings } from "../../domain/printers/printer.ts";
import {
  copyOf,
  ippPort,
  parsePrinter,
  printerFieldGroups,
  printerFormValues,
} from "../../domain/printers/printer-fields.ts";
import { parseNarrowing } from "../../domain/printers/search.ts";
import { printerStateLine } from "../../html/deploy/downloaded.ts";
import type { FormState } from "../../html/form.ts";
import { type Html, html } from "../../html/html.ts";
import { canChange, type Message, notify } from "../../html/layout.ts";
import { narrowedPath } from "../../html/list-filter.ts";
import {
  type CompletedChange,
  completedChangeIn,
  deletedMessage,
  printerMessage,
} from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import { type PrinterPageData, printerPage, settingsSection } from "../../html/printers/printer.ts";
import { printerEditPage, printerForm } from "../../html/printers/printer-form.ts";
import { remedyOf } from "../../html/remedies.ts";
import { packageFormats } from "../../pkg/formats/formats.ts";
import { revisionOf } from "../../pkg/scripts/revision.ts";
import { driversOfPrinter } from "../../services/deploy/deployable.ts";
import {
  answerForm,
  isNavigation,
  noResult,
  recordForm,
  refusedForm,
  sentForm,
  trySave,
} from "../answer-form.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { printerOffer } from "../deploy/deploy-offer.ts";
import { requestedDigests, type ScriptDigests } from "../deploy/script-digests.ts";
import { signedLineOf } from "../deploy/signed-line.ts";
import { narrowingIn, narrowingOfPage, withListUrl } from "../list-filter.ts";
import { linksMessage, pageContextOf } from "../page-context.ts";
import { readForm, ticketForm } from "../requests/forms.ts";
import { type Context, parseId } from "../router.ts";
import {
  changeDetailsIn,
  changedPath,
  keptFields,
  removedPath,
  undoMessage,
  withDetails,
} from "../undo-message.ts";
import { bulkMessageIn } from "./bulk.ts";
import { choicesOf, printerListUpdate, printersPageOf, readPrinterList } from "./printer-list.ts";

/**
 * `GET /printers`, filtered by the query. The query can also fill in the form for a new printer: `copy` takes the
 * values of another printer, `twin` those for an IPP queue in its place; `client_id` and `driver_id` set these fields.
 */
export async function index({ app, request, url }: Context): Promise<Reply> {
  const query = url.searchParams;
  const form = sentForm(await initialValues(app, query));
  const isFormRequested = ["new", "copy", "twin", "driver_id"].some((name) => query.has(name));
  const list = await readPrinterList(app, narrowingIn(query));
  const message = undoMessage(app, url) ?? bulkMessageIn(app, query);
  const page = await printersPageOf(app, pageContextOf(request, message), list, form, isFormRequested);
  const reply = htmlReply(page);
  return withListUrl(request, reply, narrowedPath(paths.printers, list.narrowing));
}

async function initialValues(app: App, query: URLSearchParams): Promise<FormInput> {
  const [copied, replaced] = [query.get("copy"), query.get("twin")];
  if (copied !== null) {
    const values = copyOf(app.store.printers.get(parseId(copied)).printer);
    return { ...values, driver_id: offeredDriver(app, values.driver_id) };
  }
  if (replaced !== null) return twinValues(app, parseId(replaced));
  const driver_id = offeredDriver(app, query.get("driver_id"));
  return valuesWith({ client_id: query.get("client_id") ?? onlyClient(app), driver_id });
}

/** @throws UserError "not-found", or "invalid" if the printer cannot have an IPP twin */
async function twinValues({ overview, store }: App, id: number): Promise<FormInput> {
  const { printer } = store.printers.get(id);
  const { printers } = await overview.read();
  const row = printers.find((one) => one.printer.id === id);
  const problem = row && twinProblem(row);
  if (problem !== undefined) throw new UserError("invalid", problem);
  const neighbours = printers.filter(({ client }) => client?.id === row?.client?.id);
  return twinOf(
    printer,
    neighbours.map(({ printer }) => printer.name),
  );
}

/** The id of the only client; empty if there are none or several. */
function onlyClient({ store }: App): string {
  const [client, ...others] = store.clients.names();
  return client !== undefined && others.length === 0 ? String(client.id) : "";
}

/** The id of a driver for printers; empty for any other driver. */
function offeredDriver({ store }: App, id: string | null = ""): string {
  const driver = store.drivers.findSummary(Number(id));
  return driver !== undefined && isForPrinters(driver) ? String(driver.id) : "";
}

/** The form for the next printer, with the same client and drivers. */
function nextForm({ client_id = "", driver_id = "", arm64_driver_id = "" }: FormInput): FormState {
  return sentForm(valuesWith({ client_id, driver_id, arm64_driver_id }));
}

/** The values of a new form with `given`. The IPP class driver sets the protocol too, because it supports only IPP. */
function valuesWith(given: FormInput): FormInput {
  const ipp = { protocol: "ipp", port_number: String(ippPort) };
  return { ...printerFormValues(), ...given, ...(Number(given.driver_id) === ippDriverId && ipp) };
}

/** `POST /printers` */
export async function create({ app, request }: Context): Promise<Reply> {
  const form = await readForm(request, ticketForm);
  const saved = await trySave(async () => app.store.printers.add(parse(app, form)));
  const narrowing = narrowingOfPage(request, "printers", form);
  const done = isFirstPackage(app) ? "first" : "saved";
  const pathOf = (id: number) => `${paths.printer(id)}?done=${done}`;
  const reply = await answerForm(request, saved, {
    redirect: pathOf,
    page: async (error) => {
      const list = await readPrinterList(app, narrowing);
      return printersPageOf(app, pageContextOf(request), list, sentForm(form, error), true);
    },
    fragment: async ({ error, value }) => {
      const message = value === undefined ? undefined : await printerChangeMessage(app, value, "saved");
      const next = error ? sentForm(form, error) : nextForm(form);
      return html`${await printerListUpdate(app, narrowing, message)}${printerForm(await choicesOf(app, next), next, true)}`;
    },
  });
  // The first package is downloaded on the printer's page, so page scripts go there too.
  if (reply.kind !== "text" || saved.value === undefined || done !== "first") return reply;
  return { ...reply, headers: { "HX-Redirect": pathOf(saved.value) } };
}

/** Whether the shop has one printer, and nobody has downloaded a printer before. */
function isFirstPackage({ store, deployments }: App): boolean {
  return store.printers.count() === 1 && !deployments.hasDeployed;
}

/** @throws UserError "invalid" with the problems of all fields, including references to missing records */
function parse({ store }: App, form: FormInput): PrinterSettings {
  const { drivers, printers } = store;
  const driverOf = (id: number | null = null) => (id === null ? undefined : drivers.findSummary(id));
  return parsePrinter(form, (references) => ({
    ...modelProblem(form, "driver_desc", driverOf(references.driver_id)),
    ...modelProblem(form, "arm64_driver_desc", driverOf(references.arm64_driver_id)),
    ...printers.referenceProblems(references),
  }));
}

/** The message after a change of a printer; undefined if nothing changed or the printer no longer exists. */
export async function printerChangeMessage(
  app: App,
  id: number,
  done: CompletedChange | undefined,
  { isWorse }: Partial<ChangeDetails> = {},
): Promise<Message | undefined> {
  if (done === undefined) return undefined;
  const row = (await app.overview.findMany([id])).get(id);
  const isDeployed = app.deployments.lastDeployed(id) !== undefined;
  return row && printerMessage(done, row, packageFormats, isDeployed, isWorse);
}

/** The revision of a printer with these settings and its current drivers; undefined without a driver. */
function printerRevision(app: App, { printer }: PrinterDetails): string | undefined {
  const { driver, arm64Driver } = driversOfPrinter(app.store, printer);
  return driver && revisionOf({ printer, driver, arm64Driver });
}

/** `GET /printers/{id}/edit` */
export async function edit({ app, request, id }: Context<"id">): Promise<Reply> {
  const { printer } = app.store.printers.get(id);
  const form = recordForm(printerFormValues(printer));
  return htmlReply(printerEditPage(pageContextOf(request), printer, await choicesOf(app, form), form));
}

/** `POST /printers/{id}` */
export async function update({ app, request, id }: Context<"id">): Promise<Reply> {
  const form = await readForm(request, ticketForm);
  // For a page script, `get` below throws "not-found", and the open page keeps the typed values.
  if (isNavigation(request) && app.store.printers.find(id) === undefined)
    return deletedMeanwhile(app, request, form);
  const before = app.store.printers.get(id);
  const stateBefore = await stateOfPrinter(app, id);
  const mergeWith = (saved: Printer, merge: typeof mergeForm) => {
    const values = printerFormValues(saved);
    return merge(form, values, printerFieldGroups(values));
  };
  let kept: FormInput = {};
  const saved = await trySave(() => {
    const change = app.store.printers.update(id, (printer) => {
      const merged = mergeWith(printer, checkedMerge);
      kept = merged.kept;
      return parse(app, merged.values);
    });
    return app.undo.keep(change);
  });
  const now = app.store.printers.get(id);
  const done = printerRevision(app, before) === printerRevision(app, now) ? "changed" : "redeploy";
  const editPage = async (error: UserError) => {
    const { printer } = now;
    const refused = refusedForm(mergeWith(printer, mergeForm), printerFormValues(printer), error);
    return printerEditPage(pageContextOf(request), printer, await choicesOf(app, refused), refused);
  };
  const isWorse = states.indexOf(await stateOfPrinter(app, id)) > states.indexOf(stateBefore);
  const details = { undo: saved.value, kept: keptFields(app, kept), isWorse };
  return answerForm(request, saved, {
    redirect: () => changedPath(app, `${paths.printer(id)}?done=${done}`, details),
    page: editPage,
    fragment: async ({ error }) => {
      if (error) return editPage(error);
      const message = await printerChangeMessage(app, id, done, details);
      return html`${settingsOf(app, id)}${notify(withDetails(app, message, details))}`;
    },
  });
}

async function stateOfPrinter({ overview }: App, id: number): Promise<State> {
  return (await overview.findMany([id])).get(id)?.state ?? "ready";
}

/** Answers a plain form whose printer was deleted meanwhile: puts the typed values into the form for a new printer. */
async function deletedMeanwhile(
  app: App,
  request: IncomingMessage,
  { opened: _, ...typed }: FormInput,
): Promise<Reply> {
  const text = "Not saved. This printer was deleted. Save it as a new printer below.";
  const links = [{ label: "Show recent deletions", path: paths.deleted }];
  const list = await readPrinterList(app, parseNarrowing({}));
  const pageContext = pageContextOf(request, { tone: "bad", text, links });
  return htmlReply(await printersPageOf(app, pageContext, list, sentForm(typed), true), 404);
}

function settingsOf(app: App, id: number): Html {
  const details = app.store.printers.get(id);
  return settingsSection({ ...details, revision: printerRevision(app, details) });
}

/** `DELETE /printers/{id}`, and `POST /printers/{id}/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  const form = await readForm(request);
  const { printer } = app.store.printers.get(id);
  const deletion = await app.undo.removePrinter(id);
  const narrowing = narrowingOfPage(request, "printers", form);
  return answerForm(request, noResult, {
    redirect: () => removedPath(app, narrowedPath(paths.printers, narrowing), printer.name, deletion),
    fragment: () => printerListUpdate(app, narrowing, deletedMessage(printer.name, deletion, true)),
  });
}

/** `GET /printers/{id}` */
export async function show(context: Context<"id">): Promise<Reply> {
  const { app, id, request, url } = context;
  const { searchParams: query } = url;
  const details = changeDetailsIn(app, url) ?? { undo: Number(query.get("replaced")) || undefined };
  const changed = await printerChangeMessage(app, id, completedChangeIn(query), details);
  const done = withDetails(app, changed, details);
  const message = done ?? linksMessage(url) ?? undoMessage(app, url);
  const digests = await requestedDigests(context, "printer");
  return htmlReply(await printerPageOf(app, request, id, { message, digests }));
}

interface PageExtras {
  readonly message?: Message | undefined;
  /** Why an upload was refused. */
  readonly problems?: PrinterPageData["problems"];
  readonly digests?: ScriptDigests | undefined;
}

/** @throws UserError "not-found" */
export async function printerPageOf(
  app: App,
  request: IncomingMessage,
  id: number,
  { message, problems, digests }: PageExtras,
): Promise<Html> {
  const { store, overview, deployments } = app;
  const details = store.printers.get(id);
  const { printer, client } = details;
  const { driver, arm64Driver } = driversOfPrinter(store, printer);
  const deployable = driver && { printer, driver, arm64Driver };
  const revision = deployable && revisionOf(deployable);
  const { row, siblings } = await overview.printer(id);
  const context = pageContextOf(request, message);
  const [worst] = row.findings;
  const data = {
    printer,
    client,
    driver,
    arm64Driver,
    icon: store.icons.find(id),
    preferences: store.preferences.find(id),
    problems,
    row,
    revision,
    stateLine: html`${printerStateLine({
      row,
      last: deployments.lastDeployed(id),
      downloads: deployments.ofPrinter(id),
      remedy: worst && canChange(context.visitor) ? remedyOf(worst, row) : undefined,
    })}${await signedLineOf(app, { kind: "printer", id }, context)}`,
    offer: deployable && printerOffer(app, request, details, deployable, siblings, digests),
  };
  return printerPage(context, data);
}
