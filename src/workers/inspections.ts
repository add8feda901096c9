import { stoppingError, UserError } from "../domain/errors.ts";
import { Quota, WorkQueue } from "./admission.ts";
import { type InspectedArchive, type InspectionAnswer, readInProcess } from "./inspection-process.ts";

export const inspectionLimits = {
  maxConcurrent: 2,
  /** How many may run or wait. */
  max: 24,
  /** The longest time for an archive. Large ones get more. */
  timeMs: 30_000,
  /** Limit of V8's heap. Memory outside of it (the INF's bytes and text, the program itself) is about 150 MB. */
  heapMb: 128,
  /** The maximum size of a ZIP inside an archive. */
  innerBytes: 1024 * 1024 * 1024,
};

export type InspectionLimits = Readonly<typeof inspectionLimits>;

export type ReadArchive = (path: string, innerBytes: number) => Promise<InspectionAnswer>;

interface Archive {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
}

/** An archive gets additional time by its size: a slow disk reads this much. */
const bytesPerSecond = 32 * 1024 * 1024;

/**
 * Reads each driver ZIP in a separate process, because V8 ends the whole process when it runs out of memory. When the
 * process ends, all memory that the archive used is free again.
 */
export class Inspections {
  readonly #script: string;
  readonly #limits: InspectionLimits;
  readonly #readHere: ReadArchive | undefined;
  readonly #running = new Set<AbortController>();
  readonly #queue: WorkQueue;
  #begun = 0;
  #isClosed = false;

  /**
   * @param script the bundled file, whose entry is `main.ts`
   * @param readHere replaces the processes in tests
   */
  constructor(script: string, limits: Partial<InspectionLimits> = {}, readHere?: ReadArchive) {
    this.#script = script;
    this.#limits = { ...inspectionLimits, ...limits };
    this.#readHere = readHere;
    const { maxConcurrent, max } = this.#limits;
    this.#queue = new WorkQueue(maxConcurrent, new Quota(max, "uploads are being read"));
  }

  /**
   * Reads a driver ZIP.
   * @param uploader the client's address; one network gets at most half of the places
   * @throws UserError "invalid" if it is not a driver ZIP, or takes too much time or memory; "busy" if too many wait
   */
  inspect(archive: Archive, uploader?: string): Promise<InspectedArchive> {
    return this.#queue.run(() => this.#run(archive), uploader);
  }

  /** How many have begun since the start. */
  get begun(): number {
    return this.#begun;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Kills all processes. Running and waiting inspections are rejected. */
  close(): void {
    this.#isClosed = true;
    for (const running of this.#running) running.abort();
  }

  /** Settles only when the process has ended, so that no more than `maxConcurrent` exist. */
  async #run(archive: Archive): Promise<InspectedArchive> {
    if (this.#isClosed) throw stoppingError();
    this.#begun++;
    if (this.#readHere !== undefined)
      return inspectedBy(await this.#readHere(archive.path, this.#limits.innerBytes));
    return this.#readInProcess(archive);
  }

  /** @throws Error if the process cannot be started */
  async #readInProcess({ path, size }: Archive): Promise<InspectedArchive> {
    const { timeMs } = this.#limits;
    const running = new AbortController();
    this.#running.add(running);
    let isLate = false;
    const maxMs = timeMs + (size / bytesPerSecond) * 1000;
    const timer = setTimeout(() => {
      isLate = true;
      running.abort();
    }, maxMs);
    const { last, end } = await readInProcess(this.#script, path, this.#limits, running.signal).finally(
      () => {
        clearTimeout(timer);
        this.#running.delete(running);
      },
    );
    if (last !== undefined && last.kind !== "ready") return inspectedBy(last);
    if (this.#isClosed) throw stoppingError();
    if (isLate) throw refusedArchive("takes too long to read");
    if (last === undefined) throw new Error(`an inspection ended before it began: ${end}`);
    throw refusedArchive("has INF files that need too much memory");
  }
}

/** @throws UserError for an archive that is not a driver ZIP */
function inspectedBy(answer: InspectionAnswer): InspectedArchive {
  if (answer.kind === "report") return answer;
  const { code, systemCode, message } = answer;
  throw code === undefined
    ? Object.assign(new Error(message), { code: systemCode })
    : new UserError(code, message);
}

function refusedArchive(why: string): UserError {
  return new UserError(
    "invalid",
    `Platen refuses this ZIP, because it ${why}. Pack only the folder of one printer’s driver, and upload that.`,
  );
}
