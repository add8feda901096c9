import type { Readable } from "node:stream";
import { type Entry, fromBuffer, type ZipFile } from "yauzl";

/** A file that a reader found. */
export interface Found {
  readonly size: number;
  readonly crc32: number;
  readonly bytes: Buffer;
}

export interface Leniency {
  /** Whether names with `\` are refused; otherwise it counts as `/`. Default: true. */
  readonly strictFileNames?: boolean;
  /** Names of files that are listed but not unpacked. */
  readonly skipped?: ReadonlySet<string>;
}

/** Reads an archive with yauzl and all its checks. @throws Error with the message of yauzl when it refuses the archive */
export function readWithYauzl(zip: Buffer, leniency: Leniency): Promise<Map<string, Found>> {
  const { strictFileNames = true, skipped = new Set() } = leniency;
  const options = { lazyEntries: true, decodeStrings: true, validateEntrySizes: true, strictFileNames };
  return new Promise((resolve, reject) => {
    fromBuffer(zip, options, (error, file) => {
      if (error) reject(error);
      else readEntries(file, skipped, resolve, reject);
    });
  });
}

function readEntries(
  file: ZipFile,
  skipped: ReadonlySet<string>,
  resolve: (found: Map<string, Found>) => void,
  reject: (error: unknown) => void,
): void {
  const found = new Map<string, Found>();
  file.on("error", reject);
  file.on("end", () => resolve(found));
  file.on("entry", (entry: Entry) => {
    const name = entry.fileName;
    const reading = skipped.has(name) ? Promise.resolve(Buffer.alloc(0)) : readEntry(file, entry);
    reading.then((bytes) => {
      if (found.has(name)) return reject(new Error(`${name} is there twice`));
      if (!name.endsWith("/")) found.set(name, { size: entry.uncompressedSize, crc32: entry.crc32, bytes });
      file.readEntry();
    }, reject);
  });
  file.readEntry();
}

function readEntry(file: ZipFile, entry: Entry): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const take = (error: Error | null, stream: Readable) => {
      if (error) return reject(error);
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => resolve(Buffer.concat(chunks)));
      stream.on("error", reject);
    };
    try {
      file.openReadStream(entry, take);
    } catch (error) {
      reject(error);
    }
  });
}
