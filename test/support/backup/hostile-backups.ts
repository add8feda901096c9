import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { restoreBackup } from "../../../src/store/backup/full-restore.ts";
import { startApp, temporaryFolder } from "../app.ts";
import { fileDigests, fixChecksum, manifestOf, type TarPart, tarOf } from "./backup.ts";

interface Target {
  readonly folder: string;
  readonly dataDir: string;
  readonly database: Buffer;
  /** Restores an archive, and checks that nothing was changed. @returns why it was refused */
  readonly attack: (tar: Buffer | AsyncIterable<Buffer>) => Promise<string>;
}

/** A DATA_DIR with a client. A hostile archive must not change it. */
export async function makeTarget(t: TestContext): Promise<Target> {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, "data");
  const service = await startApp(t, { dataDir, clock: Date.now });
  await service.post("/clients", { name: "Contoso" });
  await service.stop();
  const before = fileDigests(folder);
  const attack = async (tar: Buffer | AsyncIterable<Buffer>) => {
    const chunks = Buffer.isBuffer(tar) ? chunksOf(tar) : tar;
    const message = await restoreBackup(chunks, { dataDir, now: 0, log: () => {} }).then(
      () => "it was restored",
      (error: Error) => error.message,
    );
    assert.deepEqual(fileDigests(folder), before, message);
    assert.equal(existsSync(join(dataDir, "restore.new")), false, message);
    return message;
  };
  return { folder, dataDir, database: readFileSync(join(dataDir, "platen.sqlite")), attack };
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700);
}

export function part(name: string, bytes: Uint8Array | string = "x", header?: TarPart["header"]): TarPart {
  return { name, bytes: Buffer.from(bytes), ...(header && { header }) };
}

/** Changes a field of a header and corrects its checksum. */
export function field(at: number, text: string): (header: Buffer) => void {
  return (header) => {
    header.write(text, at, "latin1");
    fixChecksum(header);
  };
}

/** An archive of these files with a correct manifest. */
export function withManifest(parts: readonly TarPart[]): Buffer {
  return tarOf([...parts, manifestOf(parts)]);
}
