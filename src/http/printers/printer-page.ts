import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { printerStateLine } from "../../html/deploy/downloaded.ts";
import { type Html, html } from "../../html/html.ts";
import { canChange, type Message } from "../../html/layout.ts";
import { completedChangeIn } from "../../html/messages.ts";
import { type PrinterPageData, printerPage } from "../../html/printers/printer.ts";
import { remedyOf } from "../../html/remedies.ts";
import { revisionOf } from "../../pkg/scripts/revision.ts";
import { driversOfPrinter } from "../../services/deploy/deployable.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { printerOffer } from "../deploy/deploy-offer.ts";
import { requestedDigests, type ScriptDigests } from "../deploy/script-digests.ts";
import { signedLineOf } from "../deploy/signed-line.ts";
import { linksMessage, pageContextOf } from "../page-context.ts";
import type { Context } from "../router.ts";
import { changeDetailsIn, undoMessage, withDetails } from "../undo-message.ts";
import { printerChangeMessage } from "./printers.ts";

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
