import { type AddedDriver, type DriverSummary, driverTitle } from "../../domain/drivers/driver.ts";
import type { WorseCounts } from "../../domain/printers/change-effects.ts";
import type { DriverWithState, ListedDriver } from "../../domain/printers/listings.ts";
import { html } from "../html.ts";
import type { Message } from "../layout.ts";
import { type CompletedChange, changedMessage } from "../messages.ts";
import { paths } from "../paths.ts";
import { driverRemedy } from "../remedies.ts";
import { toneOf } from "../state-badge.ts";
import { counted, isolated } from "../text.ts";
import { driverLabel } from "./driver-label.ts";

/** The message after a driver was saved. @param blocked the number of its printers that cannot be deployed now */
export function driverMessage(
  done: CompletedChange | undefined,
  driver: DriverWithState,
  blocked: number,
): Message | undefined {
  if (done === undefined) return undefined;
  const text = html`Saved: <a href="${paths.driver(driver.id)}"><bdi>${driverTitle(driver)}</bdi></a>.`;
  const [worst] = driver.findings;
  const printers = { label: "Show printers", path: paths.driverPrinters(driver.id) };
  if (blocked > 0) {
    const move = { label: "Move printers to another driver", path: paths.driverMove(driver.id) };
    const problem = html`${text} ${counted(blocked, "printer")} cannot be deployed with this driver.`;
    return { tone: "warn", text: problem, links: [printers, move] };
  }
  const again = done === "redeploy" && html` Download and deploy its printers again.`;
  if (worst !== undefined) {
    const link = driverRemedy(worst.kind, driver);
    const links = [...(link ? [link] : []), ...(again ? [printers] : [])];
    return { tone: toneOf(worst.state), text: html`${text} ${isolated(worst.text)}${again}`, links };
  }
  if (again) return { tone: "good", text: html`${text}${again}`, links: [printers] };
  const next = { label: "New printer with this driver", path: paths.printerWithDriver(driver.id) };
  return { tone: "good", text, links: [next] };
}

/** The result of an upload, as the rest of a sentence that begins with the driver's name. */
export function uploadOutcome({
  isNew,
  previousProblem,
}: Pick<AddedDriver, "isNew" | "previousProblem">): string {
  if (isNew) return "was uploaded.";
  if (previousProblem === undefined) return "is already in Platen with the same content.";
  return `is already in Platen. Its ZIP was ${previousProblem} and was replaced.`;
}

type UploadOutcome = Pick<AddedDriver, "isNew" | "previousProblem"> & { readonly taken: string | undefined };

/** The message on the driver's page after an upload without scripts. */
export function uploadedMessage(
  what: UploadOutcome,
  driver: DriverWithState,
  older: readonly ListedDriver[],
): Message {
  const text = html`<bdi>${driverTitle(driver)}</bdi> ${uploadOutcome(what)}${what.taken && html` <bdi>${what.taken}</bdi>`}`;
  const moves = older.map((from) => ({
    label: `Move ${counted(from.printer_count, "printer")} from ${driverLabel(from)}`,
    path: paths.driverMove(from.id, driver.id),
  }));
  const next = { label: "New printer with this driver", path: paths.printerWithDriver(driver.id) };
  return { tone: toneOf(driver.state), text, links: driver.listed?.isPrinter ? [next, ...moves] : moves };
}

/** The message after printers were moved to a driver. */
export function movedMessage(count: number, driver: DriverSummary, worse: WorseCounts): Message {
  const text = html`${counted(count, "printer")} moved to <bdi>${driverTitle(driver)}</bdi>. Download and deploy ${count === 1 ? "it" : "them"} again.`;
  return changedMessage(text, worse);
}
