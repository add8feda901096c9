import type { TestContext } from "node:test";
import type { TestApp } from "../app.ts";
import { startFilled } from "../filled.ts";
import { driverZip, type InfOptions, printerInf } from "./driver-zip.ts";
import { program } from "./programs.ts";
import { makeZip, type ZipPart } from "./zip.ts";

/** A driver for ARM64 machines, with another version, library and models than the default driver. */
export function armZip(options: InfOptions & { readonly extra?: readonly ZipPart[] } = {}): Buffer {
  const { models = ["Papyrus ARM", "Papyrus ARM PS"], version = "3.0.0.0" } = options;
  return driverZip({ files: ["arm.dll"], ...options, models, version, decoration: "NTarm64" });
}

/** A driver that is declared for x64 and ARM64, but whose only program is for x64. */
export function misdeclaredZip(): Buffer {
  return makeZip([
    {
      name: "lying.inf",
      bytes: printerInf({ decoration: "NTamd64,NTarm64", files: ["lying.dll"], catalog: "lying.cat" }),
    },
    { name: "lying.cat", bytes: "catalog" },
    { name: "lying.dll", bytes: program(0x8664) },
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

/** Adds a driver, one for ARM64, and a printer that uses both. */
export async function addPair({ addDriver, addPrinter }: TestApp): Promise<void> {
  const driver_id = String(await addDriver());
  await addPrinter({ driver_id, arm64_driver_id: String(await addDriver(armZip())) });
}

/** Starts the service with a printer that has a driver and an ARM64 driver. @param fields further fields of the printer */
export async function appWithPair(t: TestContext, fields: Record<string, string> = {}): Promise<Pair> {
  const app = await startFilled(t, addPair);
  const pair = { name: "Office", address: "10.0.0.9", driver_id: "1", arm64_driver_id: "2" };
  if (Object.keys(fields).length > 0) await app.post("/printers/1", { ...pair, ...fields });
  return { ...app, main: 1, arm: 2, printer: 1 };
}

/** The name, drivers and models of each printer. */
export function driversOf({ app }: Pick<TestApp, "app">) {
  return app.store.printers.list().map(({ printer: { id } }) => {
    const { name, driver_id, driver_desc, arm64_driver_id, arm64_driver_desc } =
      app.store.printers.get(id).printer;
    return [name, driver_id, driver_desc, arm64_driver_id, arm64_driver_desc];
  });
}
