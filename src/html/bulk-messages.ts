import type { BulkResult } from "../domain/bulk.ts";
import { type DriverSummary, driverTitle } from "../domain/driver.ts";
import type { ClientName } from "../domain/listings.ts";
import { type Html, html } from "./html.ts";
import type { Message } from "./layout.ts";
import { paths } from "./paths.ts";
import { counted } from "./text.ts";

type Moved = Extract<BulkResult, { readonly action: "client" }>;
type Given = Extract<BulkResult, { readonly action: "driver" }>;

/** After many printers were moved to a client. @param client undefined where it is gone by now */
export function clientMessage({ count, to }: Moved, client: ClientName | undefined): Message {
  const printers = counted(count, "printer");
  if (to === null) return good(html`${printers} moved: without a client now`);
  return good(
    html`${printers} moved to <a href="${paths.client(to)}"><bdi>${client?.name ?? "another client"}</bdi></a>`,
  );
}

/** After many printers were given a driver. @param driver undefined where it is gone by now */
export function driverMessage(given: Given, driver: DriverSummary | undefined): Message {
  const { count, to } = given;
  const printers = counted(count, "printer");
  if (to === null) return good(html`${printers} without a driver now`);
  const name = html`<a href="${paths.driver(to)}"><bdi>${driver ? driverTitle(driver) : "another driver"}</bdi></a>`;
  const models = modelsText(given, driver?.driver_desc ?? "");
  return good(html`${printers} now ${count === 1 ? "uses" : "use"} ${name}.${models} Deploy again.`);
}

function good(text: Html): Message {
  return { tone: "good", text };
}

/** What became of the models that printers deploy. */
function modelsText({ kept, changed, own }: Given, model: string): Html {
  const keeps =
    kept > 0 && html` ${counted(kept, "printer")} ${kept === 1 ? "keeps its" : "keep their"} model.`;
  const gets =
    changed > 0 && html` ${counted(changed, "printer")} ${changed === 1 ? "gets" : "get"} another model.`;
  const choice = model === "" ? html`the driver’s own` : html`the driver’s own, <bdi>${model}</bdi>`;
  const takes = own > 0 && html` ${counted(own, "printer")} ${own === 1 ? "has" : "have"} ${choice}.`;
  return html`${keeps}${gets}${takes}`;
}
