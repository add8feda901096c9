import { Worker } from "node:worker_threads";
import type { DatabaseFacts } from "../domain/backup.ts";

/** What tells the bundled file that it runs as a thread that reads a database. */
export const checkRole = "platen check";

/** What such a thread answers. */
export type CheckAnswer = { readonly facts: DatabaseFacts } | { readonly problem: string };

/** Of the thread's heap: rows are read one after the other. */
const heapMb = 256;
const timeoutMs = 5 * 60_000;

/** Reads databases on a thread of their own, which ends with each: reading takes longer than anybody should wait. */
export class DatabaseCheck {
  readonly #script: string;
  readonly #running = new Set<Worker>();
  #isClosed = false;

  /** @param script the bundled file that `main.ts` became */
  constructor(script: string) {
    this.#script = script;
  }

  /** What a database's file holds. @throws Error that says why it cannot be used */
  run(path: string): Promise<DatabaseFacts> {
    if (this.#isClosed) return Promise.reject(new Error("the service is being stopped"));
    return new Promise((resolve, reject) => {
      const worker = new Worker(this.#script, {
        argv: [],
        workerData: checkRole,
        resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 8 },
      });
      this.#running.add(worker);
      const timer = setTimeout(() => void worker.terminate(), timeoutMs);
      worker.once("message", (answer: CheckAnswer) => {
        if ("facts" in answer) resolve(answer.facts);
        else reject(new Error(answer.problem));
        void worker.terminate();
      });
      worker.once("error", reject);
      worker.once("exit", () => {
        clearTimeout(timer);
        this.#running.delete(worker);
        reject(new Error("it could not be read in time"));
      });
      worker.postMessage(path);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running].map((worker) => worker.terminate()));
  }
}
