import { type DriverSummary, driverTitle } from "../../domain/drivers/driver.ts";
import type { BulkResult } from "../../domain/printers/bulk.ts";
import type { ClientName } from "../../domain/printers/listings.ts";
import { type Html, html } from "../html.ts";
import type { Message } from "../layout.ts";
import { paths } from "../paths.ts";
import { count, counted } from "../text.ts";

type ClientResult = Extract<BulkResult, { readonly action: "client" }>;
type DriverResult = Extract<BulkResult, { readonly action: "driver" }>;

/** The message after printers were moved to a client. @param client undefined if it was deleted meanwhile */
export function movedToClientMessage({ count, to }: ClientResult, client: ClientName | undefined): Message {
  const printers = counted(count, "printer");
  const has = count === 1 ? "has" : "have";
  if (to === null) return good(html`${printers} now ${has} no client`);
  return good(
    html`${printers} moved to <a href="${paths.client(to)}"><bdi>${client?.name ?? "another client"}</bdi></a>`,
  );
}

/** The message after printers got another driver. @param driver undefined if it was deleted meanwhile */
export function driverChangedMessage(result: DriverResult, driver: DriverSummary | undefined): Message {
  const { count: all, to } = result;
  const printers = counted(all, "printer");
  if (to === null) return good(html`${printers} now ${all === 1 ? "has" : "have"} no driver`);
  const name = html`<a href="${paths.driver(to)}"><bdi>${driver ? driverTitle(driver) : "another driver"}</bdi></a>`;
  const own = ownModel(driver?.driver_desc ?? "");
  if (all === 1) return good(html`${printers} now uses ${name}${oneModel(result, own)}. Deploy again.`);
  return good(html`${printers} now use ${name}.${manyModels(result, own)} Deploy again.`);
}

function good(text: Html): Message {
  return { tone: "good", text };
}

function ownModel(model: string): Html {
  return model === "" ? html`the driver’s own` : html`the driver’s own, <bdi>${model}</bdi>`;
}

/** The end of the sentence about a single printer: its model. */
function oneModel({ kept, changed, own: ofDriver }: DriverResult, own: Html): Html {
  const isOwn = ofDriver > 0;
  if (kept > 0) return html` and keeps its model${isOwn && html`: ${own}`}`;
  if (changed > 0) return html` with another model${isOwn && html`: ${own}`}`;
  return html`${isOwn && html` and has ${own}`}`;
}

/** Sentences about the models of several printers. The last one counts again those with the driver's own model. */
function manyModels({ count: all, kept, changed, own: ofDriver }: DriverResult, own: Html): Html {
  const groups = [keeps(kept, all), gets(changed, all)].filter((text) => text !== "").join(", ");
  if (ofDriver === all && (kept === all || changed === all)) return html` ${groups}: ${own}.`;
  const models = groups !== "" && html` ${groups}.`;
  if (ofDriver === 0) return html`${models}`;
  const who = ofDriver === all ? "All" : `${count(ofDriver)} of all ${count(all)}`;
  return html`${models} ${who} ${ofDriver === 1 ? "has" : "have"} ${own}.`;
}

function keeps(printers: number, all: number): string {
  if (printers === 0) return "";
  if (printers === 1) return "1 keeps its model";
  return `${printers === all ? "All" : count(printers)} keep their model`;
}

function gets(printers: number, all: number): string {
  if (printers === 0) return "";
  if (printers === 1) return "1 gets another model";
  return `${printers === all ? "All" : count(printers)} get another model`;
}
