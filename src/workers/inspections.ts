import type { ArchiveReport } from "../domain/driver.ts";
import { type ErrorCode, stopping, UserError } from "../domain/errors.ts";
import { Admission } from "./admission.ts";
import { type EarlyLimits, EarlyReader } from "./early-reader.ts";
import { InspectionProcess, type InspectionReply } from "./inspection-process.ts";

export interface InspectionLimits extends EarlyLimits {
  readonly atOnce: number;
  /** Running and waiting; one more is refused. */
  readonly most: number;
  /** For any archive, in milliseconds. */
  readonly timeMs: number;
  /** Of V8's heap, in MB; what lies outside of it (the INF's bytes and text, the program itself) is about 150 MB. */
  readonly heapMb: number;
}

export const usualLimits: InspectionLimits = {
  atOnce: 2,
  most: 24,
  timeMs: 30_000,
  heapMb: 128,
  earlyBytes: 4 * 1024 * 1024,
  earlyIdleMs: 1000,
};

/** Reads the archive at a path. */
export type ReadArchive = (path: string) => Promise<InspectionReply>;

interface Archive {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
}

/** How the reading of an archive ended. */
interface Outcome {
  readonly last: InspectionReply | undefined;
  readonly isLate: boolean;
  /** How the process ended. */
  readonly end: string;
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
  readonly #processes = new Set<InspectionProcess>();
  readonly #early: EarlyReader;
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
    this.#queue = new Admission(this.#limits.atOnce, this.#limits.most, "uploads are being read");
    this.#early = new EarlyReader(() => this.#start(), this.#limits);
  }

  /** Says that so many bytes of an upload stand in its file: a large one is read while it still arrives. */
  arrived(path: string, bytes: number): void {
    if (!this.#isClosed && this.#readHere === undefined) this.#early.arrived(path, bytes);
  }

  /** Says that there is nothing to be read any more of an upload. */
  gone(path: string): void {
    this.#early.gone(path);
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
    for (const process of this.#processes) process.kill();
  }

  #start(): InspectionProcess {
    const process = new InspectionProcess(this.#script, this.#limits.heapMb);
    this.#processes.add(process);
    const forget = () => this.#processes.delete(process);
    process.ended.then(forget, forget);
    return process;
  }

  /** Settles when the process has ended: never are there more of them than may be at once, apart from the early one. */
  async #run(archive: Archive): Promise<ArchiveReport> {
    if (this.#isClosed) throw stopping();
    if (this.#readHere !== undefined) {
      return this.#reportOf({ last: await this.#readHere(archive.path), isLate: false, end: "" });
    }
    const early = this.#early.take(archive.path);
    if (early !== undefined) {
      const outcome = await this.#read(early, archive);
      if (this.#isClosed || outcome.isLate || isAnswer(outcome.last)) return this.#reportOf(outcome);
      // One that failed had more in memory than this archive alone needs: only a new one can tell.
    }
    return this.#reportOf(await this.#read(this.#start(), archive));
  }

  /** @throws Error when the process cannot be started */
  async #read(process: InspectionProcess, { path, size }: Archive): Promise<Outcome> {
    const limit = AbortSignal.timeout(this.#limits.timeMs + Math.ceil((size / bytesPerSecond) * 1000));
    limit.addEventListener("abort", () => process.kill());
    process.ask({ kind: "inspect", path });
    const last = await process.ended;
    return { last, isLate: limit.aborted, end: process.end };
  }

  #reportOf({ last, isLate, end }: Outcome): ArchiveReport {
    if (last?.kind === "report") return last.report;
    if (last?.kind === "failure") throw failure(last);
    if (this.#isClosed) throw stopping();
    if (isLate) throw refused("takes too long to read");
    if (last === undefined) throw new Error(`an inspection ended before it began: ${end}`);
    throw refused("has INF files that need more memory than a driver’s ever do");
  }
}

/** Whether this says something of the archive. */
function isAnswer(last: InspectionReply | undefined): boolean {
  return last?.kind === "report" || (last?.kind === "failure" && last.code !== undefined);
}

function failure({ code, message }: { code?: ErrorCode; message: string }): Error {
  return code === undefined ? new Error(message) : new UserError(code, message);
}

function refused(why: string): UserError {
  return new UserError(
    "invalid",
    `This ZIP ${why}, and is refused. The folder of one printer’s driver is enough: pack that alone, and upload it.`,
  );
}
