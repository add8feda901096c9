import type { ByteSource } from "../domain/byte-source.ts";
import { cabinetNamesLimit, type EntryKind, kindOf } from "../inf/entries.ts";
import { type ArchiveEntry, unpackedLimit } from "../pkg/zip/archive.ts";
import { entryLimit } from "../pkg/zip/archive-end.ts";
import { localEntries } from "../pkg/zip/local-entries.ts";
import { type EntryFacts, readFacts } from "./entry-facts.ts";

/** What is known of entries that were checked before the archive's directory could be read. */
export interface CheckedEntries {
  /** Undefined for an entry that was not checked, or not as the directory describes it. */
  find(entry: ArchiveEntry): EntryFacts | undefined;
}

/** An entry that was checked: without its path, of which only the kind counts. */
interface Checked extends Omit<ArchiveEntry, "path" | "dataOffset"> {
  readonly kind: EntryKind;
  readonly facts: EntryFacts;
}

/**
 * Checks the entries of an archive while it arrives, one behind the other. What does not stand there as it should is
 * left to those who read the complete archive: nothing is refused here, and nothing thrown.
 */
export class EarlyReading implements CheckedEntries {
  readonly #file: GrowingFile;
  /** By where their data starts. */
  readonly #checked = new Map<number, Checked>();
  readonly #over: Promise<void>;

  /** @param file its size counts for nothing */
  constructor(file: Pick<ByteSource, "read">) {
    this.#file = new GrowingFile(file);
    this.#over = this.#checkAll().catch(() => {});
  }

  /** Says that the file has so many bytes by now. */
  arrived(bytes: number): void {
    this.#file.grow(bytes);
  }

  /** Says that the file is complete; settles when the entry that is being checked has been. */
  finish(bytes: number): Promise<void> {
    this.#file.complete(bytes);
    return this.#over;
  }

  find(entry: ArchiveEntry): EntryFacts | undefined {
    const checked = this.#checked.get(entry.dataOffset);
    const isSame =
      checked?.method === entry.method &&
      checked.crc32 === entry.crc32 &&
      checked.size === entry.size &&
      checked.compressedSize === entry.compressedSize &&
      checked.kind === kindOf(entry.path);
    return isSame ? checked.facts : undefined;
  }

  /** Does no more work than the complete archive could make. */
  async #checkAll(): Promise<void> {
    let unpacked = 0;
    let names = 0;
    for await (const { path, dataOffset, ...entry } of localEntries(this.#file)) {
      unpacked += entry.size;
      if (this.#file.isComplete || unpacked > unpackedLimit(this.#file.size)) return;
      const kind = kindOf(path);
      // INFs are read when all other names are known.
      if (kind === "inf") continue;
      const facts = await readFacts(this.#file, { path, dataOffset, ...entry });
      names += facts.names?.length ?? 0;
      if (names > cabinetNamesLimit || this.#checked.size >= entryLimit) return;
      this.#checked.set(dataOffset, { ...entry, kind, facts });
    }
  }
}

/** A file that is read while it is written: whoever reads what is not there yet waits for it. */
class GrowingFile implements Pick<ByteSource, "read"> {
  readonly #file: Pick<ByteSource, "read">;
  #wake = () => {};
  /** Known to be there, in bytes. */
  size = 0;
  isComplete = false;

  constructor(file: Pick<ByteSource, "read">) {
    this.#file = file;
  }

  grow(bytes: number): void {
    this.size = Math.max(this.size, bytes);
    this.#wake();
  }

  complete(bytes: number): void {
    this.isComplete = true;
    this.grow(bytes);
  }

  /** For one reader at a time. @throws Error when the file is complete and has fewer bytes */
  async read(position: number, length: number): Promise<Buffer> {
    while (position + length > this.size) {
      if (this.isComplete) throw new Error("the file ends here");
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    return this.#file.read(position, length);
  }
}
