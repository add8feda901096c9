import {
  type LostSetting,
  lostInTwin,
  needsVendorDriver,
  twinProblem,
} from "../../domain/printers/ipp-twin.ts";
import type { PrinterWithState } from "../../domain/printers/listings.ts";
import { isDriverOnly, type Printer } from "../../domain/printers/printer.ts";
import { printerLabels } from "../field-labels.ts";
import { type Html, html } from "../html.ts";
import { helpLinks } from "../layout.ts";
import { narrowedPath } from "../list-filter.ts";
import { paths, pathsOf } from "../paths.ts";
import { count, counted } from "../text.ts";

/** Why a setting cannot be carried over to an IPP queue. */
const reasons: Readonly<Record<LostSetting, string>> = {
  driver_desc: "it belongs to the vendor’s driver",
  port_name: "Windows names the ports of IPP queues",
  port_number: "IPP has its own port",
  lpr_queue: "IPP has a path instead",
  snmp: "IPP reports the printer’s state itself",
  print_ticket: "it belongs to the vendor’s driver",
  arm64_driver_id: "Windows includes the IPP driver for ARM64",
  keep_driver: "it concerns the vendor’s driver",
};

/** The head of the form for the twin of a printer: what happens to the printer, and what is not carried over. */
export function twinHead(printer: Printer): Html {
  const { id, name } = printer;
  const lost = lostInTwin(printer).map((field) => html`<li>${printerLabels[field]}: ${reasons[field]}.</li>`);
  return html`<h2>IPP twin of <bdi>${name}</bdi></h2><input type="hidden" name="twin" value="${id}">
    <p>The new printer replaces “<bdi>${name}</bdi>” and uses the Microsoft IPP Class Driver.</p>
    <p>Not carried over:</p>
    <ul>${lost}${printer.preferences_sha256 !== "" && html`<li>Vendor preferences: the file belongs to the vendor’s driver.</li>`}<li>Trays, stapling, user codes and other preferences of the vendor’s driver.</li></ul>
    <p class="hint">The printer must support IPP and be switched on. <a href="${pathsOf({ kind: "printer", id }).script("diagnose")}">diagnose.ps1</a> tells whether it does.
      Then stop deploying “<bdi>${name}</bdi>”, or its package installs it again.</p>`;
}

/** What Windows' plans mean for a printer's queue; undefined where they do not concern it. */
export function vendorDriverNote(row: PrinterWithState, isChangeable: boolean): Html | undefined {
  if (!needsVendorDriver(row)) return undefined;
  const link = html`<a href="${paths.printerTwin(row.printer.id)}">Make an IPP twin</a>`;
  return html`<p class="hint">Windows’ driver ranking leaves TCP/IP queues alone. Protected print mode would remove this queue.
    ${isChangeable && twinProblem(row) === undefined && link}</p>${helpLinks(["What Microsoft plans", "driverless#why"])}`;
}

/** How many queues need a vendor's driver, with a link to them; undefined if none does. */
export function vendorDriverCount(rows: readonly PrinterWithState[]): Html | undefined {
  const needing = rows.filter(needsVendorDriver).length;
  if (needing === 0) return undefined;
  const queues = rows.filter(({ printer }) => !isDriverOnly(printer)).length;
  const list = narrowedPath(paths.printers, { q: "", client: undefined, state: "vendor-driver" });
  const text = `${count(needing)} of ${counted(queues, "queue")} ${needing === 1 ? "needs" : "need"} a vendor’s driver`;
  return html`<p class="vendor-drivers"><a href="${list}">${text}</a></p>`;
}
