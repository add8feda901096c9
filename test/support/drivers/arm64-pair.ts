import type { TestContext } from "node:test";
import { startApp, type TestApp } from "../app.ts";
import { driverZip, type InfOptions, printerInf } from "./driver-zip.ts";
import { makeZip, type ZipPart } from "./zip.ts";

/** A driver for ARM64 machines, with another version, library and models than the default driver. */
export function armZip(options: InfOptions & { readonly extra?: readonly ZipPart[] } = {}): Buffer {
  const { models = ["Papyrus ARM", "Papyrus ARM PS"], version = "3.0.0.0" } = options;
  return driverZip({ files: ["arm.dll"], ...options, models, version, decoration: "NTarm64" });
}

/** A driver that is declared for x64 and ARM64, but whose only program is for x64. */
export function misdeclaredZip(): Buffer {
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
  /** Id of the first driver. */
  readonly main: number;
  /** Id of the ARM64 driver. */
  readonly arm: number;
  /** Id of the printer with both drivers. */
  readonly printer: number;
}

/** Starts the service with a printer that has a driver and an ARM64 driver. */
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

/** The name, drivers and models of each printer. */
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
