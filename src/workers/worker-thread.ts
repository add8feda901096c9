import { Worker } from "node:worker_threads";
import { UserError } from "../domain/errors.ts";
import type { TaskName, TaskReply, Tasks } from "./tasks.ts";

interface Job {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface ThreadLimits {
  /** Of its heap. */
  readonly heapMb: number;
  /** How long it stays with nothing to do. */
  readonly idleMs: number;
}

/** What tells the bundled file that it runs as a worker thread. */
export const workerRole = "platen worker";

/** One worker thread. It holds nobody up who wants to exit while it has nothing to do. */
export class WorkerThread {
  readonly #worker: Worker;
  readonly #idleMs: number;
  readonly #ended: () => void;
  readonly #jobs = new Map<number, Job>();
  #nextId = 1;
  #idle: NodeJS.Timeout | undefined;
  #isEnding = false;

  /**
   * @param script the bundled file that `main.ts` became
   * @param ended is told as soon as it takes no more tasks
   */
  constructor(script: string, { heapMb, idleMs }: ThreadLimits, ended: () => void) {
    this.#idleMs = idleMs;
    this.#ended = ended;
    this.#worker = new Worker(script, {
      argv: [],
      workerData: workerRole,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 2 },
    });
    this.#worker.on("message", (reply: TaskReply) => this.#finish(reply));
    this.#worker.on("error", (error) => this.#drop(error));
    this.#worker.on("exit", () => this.#drop(new Error("a worker thread ended")));
    this.#worker.unref();
  }

  /** Running and waiting. */
  get jobCount(): number {
    return this.#jobs.size;
  }

  /** @throws what the task throws, and Error when the thread ends before it is done */
  run<K extends TaskName>(name: K, input: Tasks[K]["input"]): Promise<Tasks[K]["output"]> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#jobs.set(id, { resolve: resolve as (output: unknown) => void, reject });
      this.#worker.ref();
      this.#worker.postMessage({ id, name, input });
    });
  }

  /** Ends it; whatever it was doing is rejected. */
  async end(): Promise<void> {
    clearTimeout(this.#idle);
    this.#isEnding = true;
    this.#ended();
    await this.#worker.terminate();
  }

  #finish(reply: TaskReply): void {
    const job = this.#jobs.get(reply.id);
    this.#jobs.delete(reply.id);
    if (this.#jobs.size === 0) this.#rest();
    if (job === undefined) return;
    if ("output" in reply) job.resolve(reply.output);
    else job.reject(reply.code ? new UserError(reply.code, reply.message) : new Error(reply.message));
  }

  #rest(): void {
    // A last reply may come while it ends, for which somebody waits who must not be left alone with it.
    if (this.#isEnding) return;
    this.#worker.unref();
    if (Number.isFinite(this.#idleMs)) this.#idle = setTimeout(() => void this.end(), this.#idleMs).unref();
  }

  #drop(error: Error): void {
    clearTimeout(this.#idle);
    this.#ended();
    for (const job of this.#jobs.values()) job.reject(error);
    this.#jobs.clear();
  }
}
