import { type ChildProcess, fork } from "node:child_process";
import type { ArchiveReport } from "../domain/driver.ts";
import { type ErrorCode, UserError } from "../domain/errors.ts";

/** The argument that, with a channel to a parent, makes the bundled file an inspection. */
export const inspectionArgument = "--inspection-of-the-service";

/** What an inspection says: first that it has begun, then one answer. */
export type InspectionReply =
  | { readonly kind: "ready" }
  | { readonly kind: "report"; readonly report: ArchiveReport }
  | { readonly kind: "failure"; readonly code?: ErrorCode; readonly message: string };

export interface InspectionLimits {
  readonly atOnce: number;
  /** Running and waiting; one more is refused. */
  readonly most: number;
  /** For any archive, in milliseconds. */
  readonly timeMs: number;
  /** Of V8's heap, in MB; what lies outside of it (the INF's bytes and text, the program itself) is about 150 MB. */
  readonly heapMb: number;
}

const usualLimits: InspectionLimits = { atOnce: 2, most: 24, timeMs: 30_000, heapMb: 128 };
interface Client {
  /** Running and waiting. */
  asked: number;
  /** When one of its was begun last, counted in all that were begun. */
  lastStart: number;
}

interface Waiting {
  readonly client: Client;
  readonly start: () => void;
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
  readonly #children = new Set<ChildProcess>();
  readonly #waiting: Waiting[] = [];
  readonly #clients = new Map<string, Client>();
  #running = 0;
  #starts = 0;
  #count = 0;
  #isClosed = false;

  /** @param script the bundled file that `main.ts` became */
  constructor(script: string, limits: Partial<InspectionLimits> = {}) {
    this.#script = script;
    this.#limits = { ...usualLimits, ...limits };
  }

  /**
   * What the archive at this path holds.
   * @param archive its size in bytes adds to the time that it may take
   * @param client who uploaded it: nobody has more than half of all places, and who was served least lately is next
   * @throws UserError "invalid" when it is no driver ZIP, or takes more time or memory than one; "busy"
   */
  async inspect(
    archive: { readonly path: string; readonly size: number },
    client = "",
  ): Promise<ArchiveReport> {
    const own = this.#clients.get(client) ?? { asked: 0, lastStart: 0 };
    if (this.#count >= this.#limits.most || own.asked >= this.#limits.most / 2) {
      throw new UserError(
        "busy",
        "Too many uploads are being read at the moment. Try again in a few seconds.",
      );
    }
    this.#count++;
    own.asked++;
    this.#clients.set(client, own);
    if (this.#running < this.#limits.atOnce) this.#begin(own);
    else await new Promise<void>((start) => this.#waiting.push({ client: own, start }));
    try {
      return await this.#run(archive);
    } finally {
      this.#running--;
      this.#count--;
      if (--own.asked === 0) this.#clients.delete(client);
      this.#startNext();
    }
  }

  #begin(client: Client): void {
    this.#running++;
    client.lastStart = ++this.#starts;
  }

  /** Begins, of those that wait, the one whose client was served least lately; of these, the one that waits longest. */
  #startNext(): void {
    const next = this.#waiting.reduce<Waiting | undefined>(
      (best, each) => (best === undefined || each.client.lastStart < best.client.lastStart ? each : best),
      undefined,
    );
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#begin(next.client);
    next.start();
  }

  /** Ends what runs; it and what waits is rejected. */
  close(): void {
    this.#isClosed = true;
    for (const child of this.#children) child.kill("SIGKILL");
  }

  /** Settles when the process has ended: never are there more of them than may be at once. */
  async #run({ path, size }: { readonly path: string; readonly size: number }): Promise<ArchiveReport> {
    if (this.#isClosed) throw stopping();
    const { heapMb, timeMs } = this.#limits;
    const child = fork(this.#script, [inspectionArgument], {
      execArgv: [`--max-old-space-size=${heapMb}`, "--max-semi-space-size=4", "--expose-gc"],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: {},
    });
    this.#children.add(child);
    const limit = AbortSignal.timeout(timeMs + Math.ceil((size / bytesPerSecond) * 1000));
    limit.addEventListener("abort", () => child.kill("SIGKILL"));
    try {
      const last = await lastReply(child, path);
      if (last?.kind === "report") return last.report;
      if (last?.kind === "failure") throw failure(last);
      if (this.#isClosed) throw stopping();
      if (limit.aborted) throw refused("takes too long to read");
      if (last === undefined) throw new Error(`an inspection ended before it began: ${endOf(child)}`);
      throw refused("has INF files that need more memory than a driver’s ever do");
    } finally {
      this.#children.delete(child);
    }
  }
}

/**
 * Gives the process its archive, ends it when it has answered, and says what it said last when it has ended.
 * @throws Error when it cannot be started
 */
function lastReply(child: ChildProcess, path: string): Promise<InspectionReply | undefined> {
  return new Promise((resolve, reject) => {
    let last: InspectionReply | undefined;
    child.on("message", (reply: InspectionReply) => {
      last = reply;
      // A process that is gone already cannot be sent anything: its end says so.
      if (reply.kind === "ready") child.send(path, () => {});
      else child.kill("SIGKILL");
    });
    child.on("error", reject);
    child.on("exit", () => resolve(last));
  });
}

function endOf({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `exit code ${exitCode}` : signalCode;
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

function stopping(): UserError {
  return new UserError("busy", "The service is being stopped. Try again in a minute.");
}
