import type { App } from "../app.ts";
import { chosenInf, type Driver } from "../domain/driver.ts";
import type { UserError } from "../domain/errors.ts";
import type { FormInput } from "../domain/fields.ts";
import type { PrinterChoices, PrinterDetails } from "../domain/listings.ts";
import { isDriverOnly, printerNeeds } from "../domain/printer.ts";
import { parsePrinter, printerFormValues } from "../domain/printer-fields.ts";
import type { FormState } from "../html/form.ts";
import { type Html, html } from "../html/html.ts";
import { notify } from "../html/layout.ts";
import { paths } from "../html/paths.ts";
import { type FormatWithFields, printerPage, settingsSection } from "../html/printer.ts";
import { printerEditPage, printerForm, printerList, printersPage } from "../html/printers.ts";
import { architectures } from "../html/text.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { installCommand, uninstallCommand } from "../pkg/scripts/commands.ts";
import { revisionOf } from "../pkg/scripts/deployment.ts";
import { removePrinter } from "../services/icons.ts";
import { answerForm, done, saving, sentForm } from "./answer-form.ts";
import { assets } from "./assets.ts";
import { readForm } from "./forms.ts";
import { htmlReply, type Reply } from "./reply.ts";
import { type Context, parseId } from "./router.ts";

/** `GET /printers`, also filled from another printer or for a client or driver */
export function index({ app, url }: Context): Reply {
  const values = initialValues(app, url.searchParams);
  const isFilled = ["copy", "client_id", "driver_id"].some((name) => url.searchParams.has(name));
  const form = sentForm(values);
  return htmlReply(printersPage({ assets }, app.store.printers.list(), choicesOf(app), form, isFilled));
}

function initialValues(app: App, query: URLSearchParams): FormInput {
  const copied = query.get("copy");
  if (copied !== null) {
    const { printer } = app.store.printers.get(parseId(copied));
    return { ...printerFormValues(printer), name: "", address: "", port_name: "" };
  }
  const given = ["client_id", "driver_id"].map((name) => [name, query.get(name) ?? ""] as const);
  return { ...printerFormValues(), ...Object.fromEntries(given) };
}

function choicesOf(app: App): PrinterChoices {
  return { clients: app.store.clients.names(), drivers: app.store.drivers.names() };
}

const freshForm: FormState = sentForm(printerFormValues());

/** `POST /printers` */
export async function create({ app, request }: Context): Promise<Reply> {
  const { printers } = app.store;
  const form = await readForm(request);
  const saved = await saving(async () => printers.add(parsePrinter(form)));
  return answerForm(request, saved, {
    redirect: paths.printer,
    page: (error) => printersPage({ assets }, printers.list(), choicesOf(app), sentForm(form, error), true),
    fragment: ({ error }) =>
      html`${printerList(printers.list())}${printerForm(choicesOf(app), error ? sentForm(form, error) : freshForm, true)}${
        !error && notify("The printer is saved.")
      }`,
  });
}

/** `GET /printers/{id}` */
export function show({ app, id }: Context<"id">): Reply {
  const details = app.store.printers.get(id);
  const { printer, client } = details;
  const driver = printer.driver_id === null ? undefined : app.store.drivers.get(printer.driver_id);
  const revision = driver && revisionOf({ printer, driver });
  const data = {
    printer,
    client,
    driver,
    icon: app.store.icons.find(id),
    needs: driver && printerNeeds(printer, driver),
    revision,
    formats: driver === undefined ? [] : formatsOf(details, driver),
    install_cmd: installCommand,
    uninstall_cmd: uninstallCommand,
  };
  return htmlReply(printerPage({ assets }, data));
}

/** Every kind of package, with what is filled in by hand for this printer. */
function formatsOf({ printer, client }: PrinterDetails, driver: Driver): FormatWithFields[] {
  const inf = chosenInf(driver);
  const facts = {
    printerName: printer.name,
    clientName: client?.name,
    isDriverOnly: isDriverOnly(printer),
    provider: inf?.provider ?? undefined,
    version: inf?.driverVer?.version,
    architectures: architectures(inf?.architectures ?? []),
    revision: revisionOf({ printer, driver }),
  };
  return packageFormats.map((format) => ({ ...format, fields: format.fields(facts) }));
}

function revisionIn(app: App, { printer }: PrinterDetails): string | undefined {
  return printer.driver_id === null
    ? undefined
    : revisionOf({ printer, driver: app.store.drivers.get(printer.driver_id) });
}

/** `GET /printers/{id}/edit` */
export function edit({ app, id }: Context<"id">): Reply {
  const { printer } = app.store.printers.get(id);
  const form = sentForm(printerFormValues(printer));
  return htmlReply(printerEditPage({ assets }, printer, choicesOf(app), form));
}

/** `POST /printers/{id}` */
export async function update({ app, request, id }: Context<"id">): Promise<Reply> {
  const form = await readForm(request);
  const { printer } = app.store.printers.get(id);
  const saved = await saving(async () => app.store.printers.update(id, parsePrinter(form)));
  const editPage = (error: UserError) =>
    printerEditPage({ assets }, printer, choicesOf(app), sentForm(form, error));
  return answerForm(request, saved, {
    redirect: () => paths.printer(id),
    page: editPage,
    fragment: ({ error }) => (error ? editPage(error) : settingsOf(app, id)),
  });
}

function settingsOf(app: App, id: number): Html {
  const details = app.store.printers.get(id);
  return settingsSection({ printer: details.printer, revision: revisionIn(app, details) });
}

/** `DELETE /printers/{id}`, and `POST /printers/{id}/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  await removePrinter(app.store, id);
  return answerForm(request, done, {
    redirect: () => paths.printers,
    fragment: () => html`${printerList(app.store.printers.list())}${notify("The printer is deleted.")}`,
  });
}
