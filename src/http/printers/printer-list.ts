import type { App } from "../../app.ts";
import type { PrinterChoices } from "../../domain/printers/listings.ts";
import { type Narrowing, narrowPrinters } from "../../domain/printers/search.ts";
import type { FormState } from "../../html/form.ts";
import { type Html, html } from "../../html/html.ts";
import { type Frame, type Message, notify } from "../../html/layout.ts";
import {
  type PrinterList,
  printerCount,
  printerList,
  printersPage,
} from "../../html/printers/printer-list.ts";
import { packageFormats } from "../../pkg/formats/formats.ts";

/** The printers that are shown, with what the page needs besides. */
export async function printersShown(app: App, narrowing: Narrowing): Promise<PrinterList> {
  const { printers } = await app.overview.read();
  const rows = narrowPrinters(printers, narrowing);
  const choices = { clients: app.store.clients.names(), drivers: app.store.drivers.summaries() };
  return { rows, narrowing, total: printers.length, choices, formats: packageFormats };
}

/** The list as a fragment brings it after a change, with what is said of that. */
export async function changedList(
  app: App,
  narrowing: Narrowing,
  message: Message | undefined,
): Promise<Html> {
  const list = await printersShown(app, narrowing);
  return html`${printerList(list)}${printerCount(list)}${notify(message)}`;
}

/** The page of printers. @param isAsked whether its form for a new printer is asked for, and so open */
export function printersPageOf(
  app: App,
  frame: Frame,
  list: PrinterList,
  form: FormState,
  isAsked: boolean,
): Html {
  return printersPage(frame, list, { form, choices: choicesOf(app, form), isAsked });
}

/** What a printer's form offers. @param form with the drivers whose models are suggested */
export function choicesOf({ config, store }: App, { values }: FormState): PrinterChoices {
  const { clients, drivers } = store;
  const chosen = drivers.find(Number(values.driver_id));
  const arm64Chosen = drivers.find(Number(values.arm64_driver_id));
  const { uploadLimitBytes } = config;
  return { clients: clients.names(), drivers: drivers.summaries(), chosen, arm64Chosen, uploadLimitBytes };
}
