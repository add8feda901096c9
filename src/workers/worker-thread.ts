import { Worker } from "node:worker_threads";
import { UserError } from "../domain/errors.ts";
import type { TaskName, TaskReply, Tasks } from "./tasks.ts";

interface Job {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface ThreadLimits {
  readonly heapMb: number;
  /** The thread ends after this time without a task. */
  readonly idleMs: number;
}

/** The `workerData` with which the bundled file runs as a worker thread. */
export const workerRole = "platen worker";

/** One worker thread. While it is idle, it does not keep the process from exiting. */
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
   * @param onEnded is called as soon as the thread accepts no more tasks
   */
  constructor(script: string, { heapMb, idleMs }: ThreadLimits, onEnded: () => void) {
    this.#idleMs = idleMs;
    this.#ended = onEnded;
    this.#worker = new Worker(script, {
      argv: [],
      workerData: workerRole,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 2 },
    });
    this.#worker.on("message", (reply: TaskReply) => this.#finish(reply));
    this.#worker.on("error", (error) => this.#rejectAll(error));
    this.#worker.on("exit", () => this.#rejectAll(new Error("a worker thread ended")));
    this.#worker.unref();
  }

  /** Running and waiting tasks. */
  get jobCount(): number {
    return this.#jobs.size;
  }

  /** @throws what the task throws, and Error if the thread ends before the task does */
  run<K extends TaskName>(name: K, input: Tasks[K]["input"]): Promise<Tasks[K]["output"]> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#jobs.set(id, { resolve: resolve as (output: unknown) => void, reject });
      this.#worker.ref();
      this.#worker.postMessage({ id, name, input });
    });
  }

  /** Ends the thread. Its tasks are rejected. */
  async end(): Promise<void> {
    clearTimeout(this.#idle);
    this.#isEnding = true;
    this.#ended();
    await this.#worker.terminate();
  }

  #finish(reply: TaskReply): void {
    const job = this.#jobs.get(reply.id);
    this.#jobs.delete(reply.id);
    if (this.#jobs.size === 0) this.#becomeIdle();
    if (job === undefined) return;
    if ("output" in reply) job.resolve(reply.output);
    else job.reject(reply.code ? new UserError(reply.code, reply.message) : new Error(reply.message));
  }

  #becomeIdle(): void {
    // A reply may arrive while `terminate` is pending. `unref` would then let the process exit before that settles.
    if (this.#isEnding) return;
    this.#worker.unref();
    if (Number.isFinite(this.#idleMs)) this.#idle = setTimeout(() => void this.end(), this.#idleMs).unref();
  }

  #rejectAll(error: Error): void {
    clearTimeout(this.#idle);
    this.#ended();
    for (const job of this.#jobs.values()) job.reject(error);
    this.#jobs.clear();
  }
}
