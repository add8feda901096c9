import type { ArchiveReport } from "../domain/drivers/driver.ts";
import { stoppingError, UserError } from "../domain/errors.ts";
import { Admission } from "./admission.ts";
import { type InspectionAnswer, readInProcess } from "./inspection-process.ts";

export interface InspectionLimits {
  readonly maxConcurrent: number;
  /** Running and waiting. */
  readonly max: number;
  /** For every archive. Large ones get additional time. */
  readonly timeMs: number;
  /** Limit of V8's heap. Memory outside of it (the INF's bytes and text, the program itself) is about 150 MB. */
  readonly heapMb: number;
}

export const inspectionLimits: InspectionLimits = {
  maxConcurrent: 2,
  max: 24,
  timeMs: 30_000,
  heapMb: 128,
};

export type ReadArchive = (path: string) => Promise<InspectionAnswer>;

interface Archive {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
}

/** Additional time for large archives: a slow disk reads this much. */
const bytesPerSecond = 32 * 1024 * 1024;

/**
 * Reads driver ZIPs, each in a process of its own: V8 ends the whole process when it runs out of memory, and the end of
 * the process frees all memory that an archive used.
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
   * @param readHere replaces the processes in tests
   */
  constructor(script: string, limits: Partial<InspectionLimits> = {}, readHere?: ReadArchive) {
    this.#script = script;
    this.#limits = { ...inspectionLimits, ...limits };
    this.#readHere = readHere;
    this.#queue = new Admission(this.#limits.maxConcurrent, this.#limits.max, "uploads are being read");
  }

  /**
   * Reads a driver ZIP.
   * @param uploader the client's address; one network gets at most half of the places
   * @throws UserError "invalid" if it is not a driver ZIP, or takes too much time or memory; "busy" if too many wait
   */
  inspect(archive: Archive, uploader?: string): Promise<ArchiveReport> {
    return this.#queue.run(() => this.#run(archive), uploader);
  }

  /** Kills all processes. Running and waiting inspections are rejected. */
  close(): void {
    this.#isClosed = true;
    for (const ending of this.#running) ending.abort();
  }

  /** Settles only when the process has ended, so that no more than `maxConcurrent` exist. */
  async #run(archive: Archive): Promise<ArchiveReport> {
    if (this.#isClosed) throw stoppingError();
    if (this.#readHere !== undefined) return reportOf(await this.#readHere(archive.path));
    return this.#readApart(archive);
  }

  /** @throws Error if the process cannot be started */
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
    if (this.#isClosed) throw stoppingError();
    if (isLate) throw refusedArchive("takes too long to read");
    if (last === undefined) throw new Error(`an inspection ended before it began: ${end}`);
    throw refusedArchive("has INF files that need more memory than a driver’s ever do");
  }
}

/** @throws UserError for an archive that is not a driver ZIP */
function reportOf(answer: InspectionAnswer): ArchiveReport {
  if (answer.kind === "report") return answer.report;
  const { code, message } = answer;
  throw code === undefined ? new Error(message) : new UserError(code, message);
}

function refusedArchive(why: string): UserError {
  return new UserError(
    "invalid",
    `This ZIP ${why}, and is refused. The folder of one printer’s driver is enough: pack that alone, and upload it.`,
  );
}
