import type { App } from "../../app.ts";
import type { PrinterChoices } from "../../domain/printers/listings.ts";
import { type Narrowing, narrowPrinters } from "../../domain/printers/search.ts";
import type { FormState } from "../../html/form.ts";
import { type Html, html } from "../../html/html.ts";
import { type Message, notify, type PageContext } from "../../html/layout.ts";
import {
  type PrinterList,
  printerCount,
  printerList,
  printersPage,
} from "../../html/printers/printer-list.ts";
import { packageFormats } from "../../pkg/formats/formats.ts";

/** The narrowed list, with the choices of the bulk changes. */
export async function readPrinterList(app: App, narrowing: Narrowing): Promise<PrinterList> {
  const { printers } = await app.overview.read();
  const rows = narrowPrinters(printers, narrowing);
  const choices = { clients: app.store.clients.names(), drivers: app.store.drivers.summaries() };
  return { rows, narrowing, total: printers.length, choices, formats: packageFormats };
}

/** The fragment after a change: the list, its count and the message. */
export async function printerListUpdate(
  app: App,
  narrowing: Narrowing,
  message: Message | undefined,
): Promise<Html> {
  const list = await readPrinterList(app, narrowing);
  return html`${printerList(list)}${printerCount(list)}${notify(message)}`;
}

/** The page of printers. @param isFormRequested opens the form for a new printer */
export function printersPageOf(
  app: App,
  pageContext: PageContext,
  list: PrinterList,
  form: FormState,
  isFormRequested: boolean,
): Html {
  return printersPage(pageContext, list, {
    form,
    choices: choicesOf(app, form),
    isRequested: isFormRequested,
  });
}

/** The choices of a printer's form. @param form its drivers' models are suggested */
export function choicesOf({ config, store }: App, { values }: FormState): PrinterChoices {
  const { clients, drivers } = store;
  const chosen = drivers.find(Number(values.driver_id));
  const arm64Chosen = drivers.find(Number(values.arm64_driver_id));
  const { uploadLimitBytes } = config;
  return { clients: clients.names(), drivers: drivers.summaries(), chosen, arm64Chosen, uploadLimitBytes };
}
