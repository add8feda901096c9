import type { App } from "../../app.ts";
import type { PrinterChoices } from "../../domain/printers/listings.ts";
import { type Narrowing, narrowPrinters } from "../../domain/printers/search.ts";
import type { FormState } from "../../html/form.ts";
import { type Html, html } from "../../html/html.ts";
import { type Message, notify, type PageContext } from "../../html/layout.ts";
import { narrowedCount } from "../../html/list-filter.ts";
import { type PrinterList, printerList, printersPage } from "../../html/printers/printers.ts";
import { packageFormats } from "../../pkg/formats/formats.ts";

/** The filtered list, with the choices for bulk changes. */
export async function readPrinterList(app: App, narrowing: Narrowing): Promise<PrinterList> {
  const { printers } = await app.overview.read();
  const rows = narrowPrinters(printers, narrowing);
  const choices = { clients: app.store.clients.names(), drivers: await app.overview.offeredDrivers() };
  return { rows, narrowing, total: printers.length, choices, formats: packageFormats };
}

/** The fragment after a change: the list, its count and the message. */
export async function printerListUpdate(
  app: App,
  narrowing: Narrowing,
  message: Message | undefined,
): Promise<Html> {
  const list = await readPrinterList(app, narrowing);
  return html`${printerList(list)}${narrowedCount("printers", list, true)}${notify(message)}`;
}

/** @param isFormRequested whether the form for a new printer is open */
export async function printersPageOf(
  app: App,
  pageContext: PageContext,
  list: PrinterList,
  form: FormState,
  isFormRequested: boolean,
): Promise<Html> {
  return printersPage(pageContext, list, form, await choicesOf(app, form), isFormRequested);
}

/** The choices in a printer's form: clients, drivers, and the models of the drivers that are chosen in `form`. */
export async function choicesOf(app: App, { values }: FormState): Promise<PrinterChoices> {
  const { clients, drivers, printers } = app.store;
  return {
    clients: clients.names(),
    drivers: await app.overview.offeredDrivers(),
    chosenDriver: drivers.find(Number(values.driver_id)),
    chosenArm64Driver: drivers.find(Number(values.arm64_driver_id)),
    twinOf: printers.find(Number(values.twin))?.printer,
  };
}
