import type { TestContext } from "node:test";
import { startApp, type TestApp } from "../app.ts";
import { driverZip, type InfOptions, printerInf } from "./driver-zip.ts";
import { makeZip, type ZipPart } from "./zip.ts";

/** The driver of ARM64 machines, as its vendor offers it: an INF and a file of other names. */
export function armZip(options: InfOptions & { readonly extra?: readonly ZipPart[] } = {}): Buffer {
  const { models = ["Papyrus ARM", "Papyrus ARM PS"], version = "3.0.0.0" } = options;
  return driverZip({ files: ["arm.dll"], ...options, models, version, decoration: "NTarm64" });
}

/** A driver that is declared for x64 and ARM64, and whose only program runs on x64. */
export function lyingZip(): Buffer {
  const program = Buffer.alloc(512);
  program.write("MZ");
  program.writeUInt32LE(128, 0x3c);
  program.write("PE\0\0", 128, "latin1");
  program.writeUInt16LE(0x8664, 132);
  return makeZip([
    {
      name: "lying.inf",
      bytes: printerInf({ decoration: "NTamd64,NTarm64", files: ["lying.dll"], catalog: "lying.cat" }),
    },
    { name: "lying.cat", bytes: "catalog" },
    { name: "lying.dll", bytes: program },
  ]);
}

export interface Pair extends TestApp {
  /** The driver of all machines. */
  readonly main: number;
  /** The one for ARM64. */
  readonly arm: number;
  /** Has both. */
  readonly printer: number;
}

/** The service with a printer that has a driver and another for ARM64. */
export async function appWithPair(t: TestContext, fields: Record<string, string> = {}): Promise<Pair> {
  const app = await startApp(t);
  const main = await app.addDriver();
  const arm = await app.addDriver(armZip());
  const printer = await app.addPrinter({
    driver_id: String(main),
    arm64_driver_id: String(arm),
    ...fields,
  });
  return { ...app, main, arm, printer };
}

/** What each printer has: its drivers and its own models. */
export function driversOf({ app }: Pick<TestApp, "app">) {
  const whole = app.store.printers.list().map(({ printer }) => app.store.printers.get(printer.id).printer);
  return whole.map((printer) => [
    printer.name,
    printer.driver_id,
    printer.driver_desc,
    printer.arm64_driver_id,
    printer.arm64_driver_desc,
  ]);
}
