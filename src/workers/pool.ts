import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { OpenFile } from "../domain/byte-source.ts";
import { UserError } from "../domain/errors.ts";
import type { Described } from "../pkg/formats/contents.ts";
import type { Seal, SealKeys } from "../pkg/formats/intunewin.ts";
import { makeRooms } from "./seal-pipeline.ts";
import type { LaidOut, TaskName, TaskReply, TaskRequest, Tasks } from "./tasks.ts";

interface Job {
  readonly request: TaskRequest;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly jobs: Map<number, Job>;
}

const longTasksAtOnce = 2;
/** Long tasks that may run or wait; one more is refused with "busy". */
const longTaskLimit = 24;
const idleMs = 20_000;
/** What a thread’s heap may have: sealing needs nearly nothing. */
const sealHeapMb = 24;
/** A central directory has up to 64 MB. */
const layoutHeapMb = 768;
/** A thread that has made so large a layout keeps too much memory to be kept itself. */
const largeLayoutRows = 20_000;

/**
 * Worker threads for what would block the event loop. They run the same bundled file, start when they
 * are needed and end when nothing was asked of them for a while.
 */
export class Workers {
  readonly #script: string;
  readonly #size: number;
  readonly #threads: Thread[] = [];
  /** Threads that do one kind of task each: nothing else waits behind theirs. */
  readonly #apart = new Map<TaskName, Thread>();
  #nextId = 1;
  /** Running and waiting. */
  #longTasks = 0;
  readonly #waiting: (() => void)[] = [];
  #idle: NodeJS.Timeout | undefined;

  /** @param script the bundled file that `main.ts` became */
  constructor(script: string, size = Math.min(4, Math.max(2, availableParallelism()))) {
    this.#script = script;
    this.#size = size;
  }

  /** Lays out a ZIP. @throws UserError "invalid" when an archive is damaged */
  async layOut(input: Tasks["layout"]["input"]): Promise<Described> {
    const described = await this.#runApart("layout", input, layoutHeapMb);
    const thread = this.#apart.get("layout");
    if (described.layout.table.length > 4 * largeLayoutRows && thread?.jobs.size === 0) {
      this.#apart.delete("layout");
      void thread.worker.terminate();
    }
    return described;
  }

  /** SHA-256 of all that is laid out. */
  digest(input: LaidOut): Promise<Uint8Array> {
    return this.#runApart("digest", input, sealHeapMb);
  }

  /** SHA-256 of a file, while nobody else needs the processor. */
  verify(file: OpenFile): Promise<Uint8Array> {
    return this.#runApart("verify", { file }, sealHeapMb);
  }

  /**
   * A package's first pass, on two threads. When it settles, both are done with the files.
   * @throws UserError "busy"
   */
  measure({ keys, ...laidOut }: LaidOut & { keys: SealKeys }): Promise<Seal> {
    return this.#long(async () => {
      const { port1, port2 } = new MessageChannel();
      const half = { ...laidOut, keys, rooms: makeRooms() };
      const halves = [
        this.#run("encrypt", { ...half, port: port1 }, [port1]),
        this.#run("authenticate", { ...half, port: port2 }, [port2]),
      ] as const;
      await Promise.allSettled(halves);
      const [checkpoints, rest] = await Promise.all(halves);
      return { ...rest, checkpoints };
    });
  }

  /** One chunk of a package's second pass: how many bytes of its room are filled. */
  seal(input: Tasks["seal"]["input"]): Promise<number> {
    return this.#run("seal", input);
  }

  /** Ends all threads; whatever they were doing is rejected. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const threads = [...this.#threads.splice(0), ...this.#apart.values()];
    this.#apart.clear();
    await Promise.all(threads.map((thread) => thread.worker.terminate()));
  }

  /** Few long tasks run at a time, some more wait for their turn in order. */
  async #long<T>(work: () => Promise<T>): Promise<T> {
    if (this.#longTasks >= longTaskLimit) {
      throw new UserError(
        "busy",
        "Too many packages are being made at the moment. Try again in a few seconds.",
      );
    }
    this.#longTasks++;
    if (this.#longTasks > longTasksAtOnce) await new Promise<void>((turn) => this.#waiting.push(turn));
    try {
      return await work();
    } finally {
      this.#longTasks--;
      this.#waiting.shift()?.();
    }
  }

  #run<K extends TaskName>(
    name: K,
    input: Tasks[K]["input"],
    handedOver: MessagePort[] = [],
  ): Promise<Tasks[K]["output"]> {
    clearTimeout(this.#idle);
    return this.#runOn(this.#freest(), name, input, handedOver);
  }

  /** On the thread for these tasks, one after the other. */
  #runApart<K extends TaskName>(
    name: K,
    input: Tasks[K]["input"],
    heapMb: number,
  ): Promise<Tasks[K]["output"]> {
    clearTimeout(this.#idle);
    const thread = this.#apart.get(name) ?? this.#start(heapMb);
    this.#apart.set(name, thread);
    return this.#runOn(thread, name, input);
  }

  #runOn<K extends TaskName>(
    thread: Thread,
    name: K,
    input: Tasks[K]["input"],
    handedOver: MessagePort[] = [],
  ): Promise<Tasks[K]["output"]> {
    return new Promise((resolve, reject) => {
      const request = { id: this.#nextId++, name, input };
      thread.jobs.set(request.id, { request, resolve: resolve as (output: unknown) => void, reject });
      thread.worker.ref();
      thread.worker.postMessage(request, handedOver);
    });
  }

  #freest(): Thread {
    const freest = this.#threads.reduce<Thread | undefined>(
      (best, thread) => (best === undefined || thread.jobs.size < best.jobs.size ? thread : best),
      undefined,
    );
    if (freest !== undefined && (freest.jobs.size === 0 || this.#threads.length >= this.#size)) return freest;
    const thread = this.#start();
    this.#threads.push(thread);
    return thread;
  }

  #start(heapMb = sealHeapMb): Thread {
    const worker = new Worker(this.#script, {
      argv: [],
      workerData: "platen worker",
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 2 },
    });
    const thread: Thread = { worker, jobs: new Map() };
    worker.on("message", (reply: TaskReply) => this.#finish(thread, reply));
    worker.on("error", (error) => this.#drop(thread, error));
    worker.on("exit", () => this.#drop(thread, new Error("a worker thread ended")));
    worker.unref();
    return thread;
  }

  #finish(thread: Thread, reply: TaskReply): void {
    const job = thread.jobs.get(reply.id);
    thread.jobs.delete(reply.id);
    if (thread.jobs.size === 0) thread.worker.unref();
    const all = [...this.#threads, ...this.#apart.values()];
    if (all.every(({ jobs }) => jobs.size === 0)) this.#endWhenIdle();
    if (job === undefined) return;
    if ("output" in reply) job.resolve(reply.output);
    else job.reject(reply.problem ? new UserError(reply.problem, reply.message) : new Error(reply.message));
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.close(), idleMs).unref();
  }

  #drop(thread: Thread, error: Error): void {
    const at = this.#threads.indexOf(thread);
    if (at >= 0) this.#threads.splice(at, 1);
    for (const [name, kept] of this.#apart) if (kept === thread) this.#apart.delete(name);
    for (const job of thread.jobs.values()) job.reject(error);
    thread.jobs.clear();
  }
}
