import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { manifestName, manifestText } from "../../../src/domain/backup/full-backup.ts";
import { tarEnd, tarHeader, tarPaddingBytes } from "../../../src/domain/backup/tar.ts";
import { restoreBackup } from "../../../src/store/backup/full-restore.ts";
import { startApp } from "../app.ts";
import { makeOnce } from "../filled.ts";
import { fileDigests, sha256Of } from "./backup.ts";

/** A file in an archive. */
interface TarPart {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Changes the header in place. */
  readonly header?: ((header: Buffer) => void) | undefined;
}

export function part(name: string, bytes: Uint8Array | string = "x", header?: TarPart["header"]): TarPart {
  return { name, bytes: Buffer.from(bytes), header };
}

/** Changes a field of a header and corrects its checksum. */
export function field(at: number, text: string): (header: Buffer) => void {
  return (header) => {
    header.write(text, at, "latin1");
    header.fill(" ", 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  };
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
  const files = parts.map(({ name, bytes }) => ({ name, size: bytes.length, sha256: sha256Of(bytes) }));
  return part(manifestName, manifestText({ version: "0.1.0", madeAt: 0, files, missing }));
}

/** An archive of these files with a correct manifest. */
export const withManifest = (parts: readonly TarPart[]) => tarOf([...parts, manifestOf(parts)]);

/** A DATA_DIR with a client. A hostile archive must not change it. */
export async function makeTarget(t: TestContext) {
  const { folder } = await makeOnce(t, fillTarget);
  const dataDir = join(folder, "data");
  const before = fileDigests(folder);
  /** Restores an archive, and checks that nothing was changed. @returns why it was refused */
  const attack = async (tar: Buffer | AsyncIterable<Buffer>) => {
    const chunks = Buffer.isBuffer(tar) ? chunksOf(tar, 700) : tar;
    const message = await restoreBackup(chunks, { dataDir, now: 0, log: () => {} }).then(
      () => "it was restored",
      (error: Error) => error.message,
    );
    assert.deepEqual(fileDigests(folder), before, message);
    assert.equal(existsSync(join(dataDir, "restore.new")), false, message);
    return message;
  };
  return { dataDir, database: readFileSync(join(dataDir, "platen.sqlite")), attack };
}

async function fillTarget(t: TestContext, folder: string): Promise<void> {
  const service = await startApp(t, { dataDir: join(folder, "data"), clock: Date.now });
  await service.post("/clients", { name: "Contoso" });
  await service.stop();
}

export async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
