import type { Worker } from "node:worker_threads";
import { UserError } from "../domain/errors.ts";
import { startThread } from "./program.ts";
import type { TaskName, TaskReply, Tasks } from "./tasks.ts";

/** How to settle the promise of a task. */
interface Job {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface ThreadLimits {
  readonly heapMb: number;
  /** The thread ends after this time without a task; never if it is infinite. */
  readonly idleMs: number;
}

/** With this `workerData`, the bundled file runs as a worker thread. */
export const workerRole = "platen worker";

/** A worker thread. The process can exit while the thread is idle. */
export class WorkerThread {
  readonly #worker: Worker;
  readonly #idleMs: number;
  readonly #onEnded: () => void;
  readonly #jobs = new Map<number, Job>();
  #nextId = 1;
  #idle: NodeJS.Timeout | undefined;
  #isEnding = false;

  /**
   * @param script the bundled file, whose entry is `main.ts`
   * @param onEnded called as soon as the thread accepts no more tasks, and again when it exits
   */
  constructor(script: string, { heapMb, idleMs }: ThreadLimits, onEnded: () => void) {
    this.#idleMs = idleMs;
    this.#onEnded = onEnded;
    this.#worker = startThread(script, {
      argv: [],
      workerData: workerRole,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 2 },
    });
    this.#worker.on("message", (reply: TaskReply) => this.#finish(reply));
    this.#worker.on("error", (error) => this.#rejectAll(error));
    this.#worker.on("exit", () => this.#rejectAll(new Error("a worker thread ended")));
    this.#worker.unref();
  }

  /** The number of running and waiting tasks. */
  get jobCount(): number {
    return this.#jobs.size;
  }

  /** @throws the task's error, or Error if the thread ends before the task */
  run<K extends TaskName>(name: K, input: Tasks[K]["input"]): Promise<Tasks[K]["output"]> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#jobs.set(id, { resolve: resolve as (output: unknown) => void, reject });
      this.#worker.ref();
      this.#worker.postMessage({ id, name, input });
    });
  }

  /** Ends the thread. Unfinished tasks are rejected. */
  async end(): Promise<void> {
    clearTimeout(this.#idle);
    this.#isEnding = true;
    this.#onEnded();
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
    // A reply may arrive during `terminate`. After `unref`, the process could exit before `terminate` resolves.
    if (this.#isEnding) return;
    this.#worker.unref();
    if (Number.isFinite(this.#idleMs)) this.#idle = setTimeout(() => void this.end(), this.#idleMs).unref();
  }

  #rejectAll(error: Error): void {
    clearTimeout(this.#idle);
    this.#onEnded();
    for (const job of this.#jobs.values()) job.reject(error);
    this.#jobs.clear();
  }
}
