import type { IncomingMessage } from "node:http";
import { type Config, needsSignIn } from "../config.ts";
import type { StatedPrinter } from "../domain/listings.ts";
import { counted } from "../domain/sentences.ts";
import { sharedDrivers } from "../domain/shared-drivers.ts";
import type { OfferedPublish } from "../html/publish.ts";
import { operatorCommand } from "../pkg/scripts/commands.ts";
import { scriptFileName } from "../services/download-names.ts";
import { isLoopback, serviceUrl } from "./service-url.ts";

/** What a script that publishes is of. */
export interface Publishable {
  readonly publishPath: string;
  readonly readPath: (kind: string) => string;
  readonly makes: string;
  /** Whether several printers could be one app. */
  readonly isOfMany: boolean;
  /** Of its scripts, without kind and ending. */
  readonly scriptName: string;
}

export function publishOffer(
  config: Config,
  request: IncomingMessage,
  { publishPath: path, readPath, makes, isOfMany, scriptName }: Publishable,
): OfferedPublish {
  const fileName = scriptFileName("publish", scriptName);
  const service = serviceUrl(request, config);
  return {
    ...{ path, readPath: readPath("publish"), fileName, makes, isOfMany },
    command: operatorCommand(fileName),
    isOwnOnly: service !== undefined && isLoopback(service),
    linkDays: needsSignIn(config) ? config.linkDays : undefined,
  };
}

/** Which apps a printer becomes. @param siblings what is deployed of its client, the printer with it */
export function appsOfPrinter(printerId: number, siblings: readonly StatedPrinter[]): string {
  const shared = sharedDrivers(siblings);
  const driver = shared.get(printerId);
  if (driver === undefined) return "one app, with the driver in it";
  const sharing = [...shared.values()].filter((id) => id === driver).length;
  return `two apps: one for the driver, which ${sharing} printers of the client share, and a small one for this printer that depends on it`;
}

/** Which apps a client's printers become. @param rows what is deployed */
export function appsOfClient(rows: readonly StatedPrinter[]): string {
  const shared = sharedDrivers(rows);
  const drivers = new Set(shared.values()).size;
  if (rows.length === 1) return "one app, with the driver in it";
  if (drivers === 0) return `${counted(rows.length, "app")}: one for each printer, with its driver in it`;
  const whole = rows.length - shared.size;
  const parts = [
    `one for ${drivers === 1 ? "the driver" : `each of the ${drivers} drivers`} that printers share`,
    `a small one for each of the ${shared.size} printers that depend on ${drivers === 1 ? "it" : "one of them"}`,
    ...(whole === 0
      ? []
      : [
          `one for ${whole === 1 ? "the other printer" : `each of the ${whole} others`}, with the driver in it`,
        ]),
  ];
  const listed = `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
  return `${counted(drivers + rows.length, "app")}: ${listed}`;
}
