import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { manifestName, manifestText } from "../../../src/domain/backup/full-backup.ts";
import { tarEnd, tarHeader, tarPaddingBytes } from "../../../src/domain/backup/tar.ts";
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
export async function startFullShop(t: TestContext, dataDir: string): Promise<TestApp> {
  const shop = await startApp(t, { dataDir, clock: Date.now });
  await shop.post("/clients", { name: "Contoso" });
  const printer = await shop.addPrinter();
  await shop.upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  await shop.upload(`/printers/${printer}/preferences`, makePreferences(), "preferences.dat");
  return shop;
}

/** The SHA-256 of every file below a folder, by its path. */
export function fileDigests(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ]),
  );
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

/** A file in an archive, as `tarOf` writes it. */
export interface TarPart {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Changes the header in place. */
  readonly header?: (header: Buffer) => void;
}

/** An archive of these files. */
export function tarOf(parts: readonly TarPart[], end = tarEnd): Buffer {
  const blocks = parts.flatMap(({ name, bytes, header: change }) => {
    const header = tarHeader({ name, size: bytes.length }, 0);
    change?.(header);
    return [header, Buffer.from(bytes), Buffer.alloc(tarPaddingBytes(bytes.length))];
  });
  return Buffer.concat([...blocks, end]);
}

/** The manifest of these files, as at the end of a backup. */
export function manifestOf(parts: readonly TarPart[], missing: readonly string[] = []): TarPart {
  const files = parts.map(({ name, bytes }) => ({
    name,
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  }));
  const text = manifestText({ version: "0.1.0", madeAt: 0, files, missing });
  return { name: manifestName, bytes: Buffer.from(text) };
}

/** Corrects the checksum of a changed header. */
export function fixChecksum(header: Buffer): void {
  header.fill(" ", 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
}
