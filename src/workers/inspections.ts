import type { ArchiveReport } from "../domain/drivers/driver.ts";
import { stopping, UserError } from "../domain/errors.ts";
import { Admission } from "./admission.ts";
import { type InspectionAnswer, readInProcess } from "./inspection-process.ts";

export interface InspectionLimits {
  readonly atOnce: number;
  /** Running and waiting; one more is refused. */
  readonly max: number;
  /** For any archive, in milliseconds. */
  readonly timeMs: number;
  /** Of V8's heap, in MB; what lies outside of it (the INF's bytes and text, the program itself) is about 150 MB. */
  readonly heapMb: number;
}

export const usualLimits: InspectionLimits = {
  atOnce: 2,
  max: 24,
  timeMs: 30_000,
  heapMb: 128,
};

/** Reads the archive at a path. */
export type ReadArchive = (path: string) => Promise<InspectionAnswer>;

interface Archive {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
}

/** A slow disk reads so much in a second; that time comes on top. */
const bytesPerSecond = 32 * 1024 * 1024;

/**
 * Reads driver ZIPs, each in a process of its own: V8 ends the whole process where it runs out of memory, and what an
 * archive leaves behind goes with it.
 */
export class Inspections {
  readonly #script: string;
  readonly #limits: InspectionLimits;
  readonly #readHere: ReadArchive | undefined;
  readonly #running = new Set<AbortController>();
  readonly #queue: Admission;
  #isClosed = false;

  /**
   * @param script the bundled file that `main.ts` became
   * @param readHere takes the place of the processes
   */
  constructor(script: string, limits: Partial<InspectionLimits> = {}, readHere?: ReadArchive) {
    this.#script = script;
    this.#limits = { ...usualLimits, ...limits };
    this.#readHere = readHere;
    this.#queue = new Admission(this.#limits.atOnce, this.#limits.max, "uploads are being read");
  }

  /**
   * What the archive at this path holds.
   * @param archive its size in bytes adds to the time that it may take
   * @param uploader the address that it came from: nobody has more than half of all places
   * @throws UserError "invalid" when it is no driver ZIP, or takes more time or memory than one; "busy"
   */
  inspect(archive: Archive, uploader?: string): Promise<ArchiveReport> {
    return this.#queue.run(() => this.#run(archive), uploader);
  }

  /** Ends what runs; it and what waits is rejected. */
  close(): void {
    this.#isClosed = true;
    for (const ending of this.#running) ending.abort();
  }

  /** Settles when the process has ended: never are there more of them than may be at once. */
  async #run(archive: Archive): Promise<ArchiveReport> {
    if (this.#isClosed) throw stopping();
    if (this.#readHere !== undefined) return reportOf(await this.#readHere(archive.path));
    return this.#readApart(archive);
  }

  /** @throws Error when the process cannot be started */
  async #readApart({ path, size }: Archive): Promise<ArchiveReport> {
    const ending = new AbortController();
    this.#running.add(ending);
    let isLate = false;
    const timer = setTimeout(
      () => {
        isLate = true;
        ending.abort();
      },
      this.#limits.timeMs + (size / bytesPerSecond) * 1000,
    );
    const { last, end } = await readInProcess(this.#script, path, this.#limits.heapMb, ending.signal).finally(
      () => {
        clearTimeout(timer);
        this.#running.delete(ending);
      },
    );
    if (last !== undefined && last.kind !== "ready") return reportOf(last);
    if (this.#isClosed) throw stopping();
    if (isLate) throw refused("takes too long to read");
    if (last === undefined) throw new Error(`an inspection ended before it began: ${end}`);
    throw refused("has INF files that need more memory than a driver’s ever do");
  }
}

/** @throws UserError for an archive that is no driver ZIP */
function reportOf(answer: InspectionAnswer): ArchiveReport {
  if (answer.kind === "report") return answer.report;
  const { code, message } = answer;
  throw code === undefined ? new Error(message) : new UserError(code, message);
}

function refused(why: string): UserError {
  return new UserError(
    "invalid",
    `This ZIP ${why}, and is refused. The folder of one printer’s driver is enough: pack that alone, and upload it.`,
  );
}
