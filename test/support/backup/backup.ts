import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openStore, type Store } from "../../../src/store/store.ts";
import { bundle, startApp, type TestApp } from "../app.ts";
import { readDatabase } from "../database.ts";
import { makePng } from "../printers/png.ts";
import { makePreferences } from "../printers/preferences-files.ts";

/** Runs a command of the program on a DATA_DIR. */
export function runPlaten(dataDir: string, ...args: string[]) {
  return spawnSync(process.execPath, [bundle, ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
  });
}

/** A service with a client and a printer that has a driver, an icon and preferences. */
export async function startFullShop(
  t: TestContext,
  dataDir: string,
  options: Parameters<typeof startApp>[1] = { clock: Date.now },
): Promise<TestApp> {
  const shop = await startApp(t, { dataDir, ...options });
  await shop.post("/clients", { name: "Contoso" });
  const printer = await shop.addPrinter();
  await shop.upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  await shop.upload(`/printers/${printer}/preferences`, makePreferences(), "preferences.dat");
  return shop;
}

/** Opens the store of a folder at a time. @param lines gets the log */
export function openAt(
  dataDir: string,
  now = Date.now(),
  lines: string[] = [],
  recover = false,
): Promise<Store> {
  const log = (line: string) => lines.push(line);
  return openStore(dataDir, () => now, log, { recover });
}

export const sha256Of = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** The SHA-256 of every file below a folder, by its path. */
export function fileDigests(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, sha256Of(readFileSync(join(folder, name)))]));
}

/** The same for the files that a backup contains. */
export function backedUpFiles(folder: string): Record<string, string> {
  const lasting = /^(?:platen\.sqlite|secret|(?:drivers|icons|preferences|audit)\/.+)$/;
  return Object.fromEntries(Object.entries(fileDigests(folder)).filter(([name]) => lasting.test(name)));
}

/** The same, with rows instead of the database's digest, and without the tables that a restore changes. */
export async function recordsIn(folder: string): Promise<Record<string, string>> {
  const rows = await readDatabase(join(folder, "platen.sqlite"), (db) => {
    const tables =
      db.exec("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")[0]?.values ?? [];
    const names = tables
      .map(([name]) => String(name))
      .filter((name) => !["link_epoch", "changes", "sqlite_sequence"].includes(name));
    return JSON.stringify(names.map((name) => [name, db.exec(`SELECT * FROM ${name}`)]));
  });
  return { ...backedUpFiles(folder), "platen.sqlite": rows };
}
