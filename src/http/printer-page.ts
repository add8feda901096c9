import type { App } from "../app.ts";
import { chosenInf, type Driver } from "../domain/driver.ts";
import type { PrinterDetails, Standing } from "../domain/listings.ts";
import { isDriverOnly, printerNeeds } from "../domain/printer.ts";
import { doneIn } from "../html/messages.ts";
import { type FormatWithFields, printerPage } from "../html/printer.ts";
import { architectures } from "../html/text.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { installCommand, uninstallCommand } from "../pkg/scripts/commands.ts";
import { revisionOf } from "../pkg/scripts/deployment.ts";
import { assets } from "./assets.ts";
import { messageOf } from "./printers.ts";
import { htmlReply, type Reply } from "./reply.ts";
import type { Context } from "./router.ts";

/** `GET /printers/{id}` */
export async function show({ app, id, url }: Context<"id">): Promise<Reply> {
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
    standing: await standingOf(app, id),
    formats: driver === undefined ? [] : formatsOf(details, driver),
    install_cmd: installCommand,
    uninstall_cmd: uninstallCommand,
  };
  return htmlReply(printerPage({ assets, message: messageOf(app, id, doneIn(url.searchParams)) }, data));
}

async function standingOf({ overview }: App, id: number): Promise<Standing> {
  const standing = (await overview.read()).printersById.get(id);
  if (standing === undefined) throw new Error(`the printer ${id} is not among all printers`);
  return standing;
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
