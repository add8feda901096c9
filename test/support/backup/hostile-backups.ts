import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { restoreBackup } from "../../../src/store/backup/full-restore.ts";
import { startApp, temporaryFolder } from "../app.ts";
import { contentOf, manifestOf, signed, type TarPart, tarOf } from "./backup.ts";

interface Target {
  readonly folder: string;
  readonly dataDir: string;
  readonly database: Buffer;
  /** Restores an archive; answers why it was refused, after seeing that nothing was changed. */
  readonly attack: (tar: Buffer | AsyncIterable<Buffer>) => Promise<string>;
}

/** A DATA_DIR with a client, which no hostile archive may change. */
export async function targetOf(t: TestContext): Promise<Target> {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, "data");
  const service = await startApp(t, { dataDir, clock: Date.now });
  await service.post("/clients", { name: "Contoso" });
  await service.stop();
  const before = contentOf(folder);
  const attack = async (tar: Buffer | AsyncIterable<Buffer>) => {
    const chunks = Buffer.isBuffer(tar) ? piecesOf(tar) : tar;
    const message = await restoreBackup(chunks, { dataDir, now: 0, log: () => {} }).then(
      () => "it was restored",
      (error: Error) => error.message,
    );
    assert.deepEqual(contentOf(folder), before, message);
    assert.equal(existsSync(join(dataDir, "restore.new")), false, message);
    return message;
  };
  return { folder, dataDir, database: readFileSync(join(dataDir, "platen.sqlite")), attack };
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700);
}

export function part(name: string, bytes: Uint8Array | string = "x", header?: TarPart["header"]): TarPart {
  return { name, bytes: Buffer.from(bytes), ...(header && { header }) };
}

/** Changes a field of a header, and its checksum with it. */
export function field(at: number, text: string): (header: Buffer) => void {
  return (header) => {
    header.write(text, at, "latin1");
    signed(header);
  };
}

/** An archive of files with a list that is right. */
export function listing(parts: readonly TarPart[]): Buffer {
  return tarOf([...parts, manifestOf(parts)]);
}
