import { availableParallelism } from "node:os";
import { MessageChannel } from "node:worker_threads";
import type { OpenFile } from "../domain/byte-source.ts";
import { stopping } from "../domain/errors.ts";
import type { EncryptedPrefix, EncryptionInfo } from "../pkg/formats/checkpoints.ts";
import type { Described } from "../pkg/formats/contents.ts";
import type { EncryptionKeys } from "../pkg/formats/encryption.ts";
import { Admission } from "./admission.ts";
import { pipelineBuffers } from "./seal-pipeline.ts";
import type { LaidOut, PublishedScript, TaskName, Tasks } from "./tasks.ts";
import { type ThreadLimits, WorkerThread } from "./worker-thread.ts";

const longTasksAtOnce = 2;
const longTaskLimit = 24;
/** What a thread’s heap may have: encrypting needs nearly nothing. */
const usualHeapMb = 24;
/** A central directory has up to 64 MB. */
const layoutHeapMb = 768;
/** Settings of more characters need more memory than the digest thread has. */
const largeSettings = 100_000;
/** Laying out so many files takes half a second. */
const quickEffort = 10_000;
/** How long a thread with nothing to do stays. */
const encryptingIdleMs = 20_000;
const verifyingIdleMs = 1000;

/** A heap is large where an archive or a client is: such a thread ends as soon as it is done. */
const layouts = { heapMb: layoutHeapMb, idleMs: 0 };
const hashing = { heapMb: usualHeapMb, idleMs: verifyingIdleMs };

/** Threads that do one kind of work each, one task after the other. */
const lanes = {
  layouts,
  "long layouts": layouts,
  "large settings": layouts,
  digests: hashing,
  verifying: hashing,
} satisfies Record<string, ThreadLimits>;

/**
 * Worker threads for what would block the event loop. They run the same bundled file and start when they are needed.
 *
 * - The digest thread keeps the digests of what packages begin with, so it stays. It also lays out what is a printer's
 *   own, and encrypts where it has nothing else to do.
 * - The other encrypting threads end when nothing was asked of them for a while.
 * - Laying out drivers, hashing and verifying have a thread each, so that nothing waits behind them; it ends after.
 *   Drivers that take long to be laid out have their own, so that others do not wait behind these.
 */
export class Workers {
  readonly #script: string;
  readonly #size: number;
  readonly #idleMs: number | undefined;
  readonly #long = new Admission(longTasksAtOnce, longTaskLimit);
  readonly #threads = new Set<WorkerThread>();
  readonly #dedicated = new Map<keyof typeof lanes, WorkerThread>();
  #digestThread: WorkerThread | undefined;
  #isClosed = false;

  /**
   * @param script the bundled file that `main.ts` became
   * @param size how many threads encrypt
   * @param idleMs how long each thread stays with nothing to do, in place of what is usual for its kind
   */
  constructor(script: string, size = Math.min(4, Math.max(2, availableParallelism())), idleMs?: number) {
    this.#script = script;
    this.#size = size;
    this.#idleMs = idleMs;
  }

  /**
   * Lays out drivers' files.
   * @param effort about how many files they have: what takes long waits for its like alone
   * @throws UserError "invalid" when an archive is damaged, or an INF cannot be read
   */
  layOutDrivers(
    input: Tasks["layOutDrivers"]["input"],
    effort: number,
  ): Promise<Tasks["layOutDrivers"]["output"]> {
    return this.#runDedicated(effort > quickEffort ? "long layouts" : "layouts", "layOutDrivers", input);
  }

  /** Lays out a ZIP that begins with these drivers. @throws UserError "invalid" where no ZIP can hold it */
  async layOut(input: Tasks["layOut"]["input"]): Promise<Described> {
    return this.#withSettings("layOut", input, input.end.settings);
  }

  /** A script as a file. */
  async renderScript(input: Tasks["renderScript"]["input"]): Promise<Uint8Array> {
    return this.#withSettings("renderScript", input, input.settings);
  }

  /** A script that puts packages into Intune, as a file. */
  renderPublish(input: Tasks["renderPublish"]["input"]): Promise<PublishedScript> {
    return this.#runDedicated("large settings", "renderPublish", input);
  }

  /** SHA-256 of all that is laid out. */
  digest(input: LaidOut): Promise<Uint8Array> {
    return this.#runDedicated("digests", "digest", input);
  }

  /** SHA-256 of a file, while nobody else needs the processor. */
  verify(file: OpenFile): Promise<Uint8Array> {
    return this.#runDedicated("verifying", "verify", { file });
  }

  /**
   * Encrypts the first `size` bytes and keeps their digests under a name, on two threads. When it settles, both are
   * done with the files.
   * @throws UserError "busy"
   */
  encryptPrefix(
    prefix: LaidOut & { readonly keys: EncryptionKeys; readonly size: number; readonly name: string },
  ): Promise<EncryptedPrefix> {
    return this.#long.run(async () => {
      const { port1, port2 } = new MessageChannel();
      const both = { ...prefix, buffers: pipelineBuffers() };
      const encrypting = this.#freest(this.#others());
      const ends = [
        encrypting.run("encryptPrefix", { ...both, port: port1 }, [port1]),
        this.#digests().run("digestPrefix", { ...both, port: port2 }, [port2]),
      ] as const;
      await Promise.allSettled(ends);
      const [encrypted] = await Promise.all(ends);
      return encrypted;
    });
  }

  /** Encrypts and digests what stands behind a prefix that was kept under this name. */
  async finish(input: Tasks["finish"]["input"]): Promise<EncryptionInfo> {
    return this.#digests().run("finish", input);
  }

  /** Encrypts one chunk: how many bytes of its buffer are filled. */
  async encrypt(input: Tasks["encrypt"]["input"]): Promise<number> {
    const others = this.#others();
    const all = this.#digestThread === undefined ? others : [this.#digestThread, ...others];
    return this.#freest(all).run("encrypt", input);
  }

  /** Ends all threads; whatever they were doing is rejected, and nothing more is begun. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.endThreads();
  }

  /** Ends all threads; whatever they were doing is rejected, and others are started for what comes. */
  async endThreads(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  /** @throws UserError "busy" when all has been closed, as wherever a thread may have to be started */
  #digests(): WorkerThread {
    this.#digestThread ??= this.#start({ heapMb: usualHeapMb, idleMs: Number.POSITIVE_INFINITY });
    return this.#digestThread;
  }

  /** The encrypting threads but the digest thread. */
  #others(): WorkerThread[] {
    const apart = new Set(this.#dedicated.values());
    return [...this.#threads].filter((thread) => thread !== this.#digestThread && !apart.has(thread));
  }

  /** The one with the least to do; a new one where all have something and there may be one more. */
  #freest(threads: readonly WorkerThread[]): WorkerThread {
    const [freest] = threads.toSorted((a, b) => a.jobCount - b.jobCount);
    const mayStart = this.#others().length < this.#size - 1;
    if (freest !== undefined && (freest.jobCount === 0 || !mayStart)) return freest;
    return this.#start({ heapMb: usualHeapMb, idleMs: encryptingIdleMs });
  }

  async #withSettings<K extends TaskName>(
    name: K,
    input: Tasks[K]["input"],
    settings = "",
  ): Promise<Tasks[K]["output"]> {
    return settings.length > largeSettings
      ? this.#runDedicated("large settings", name, input)
      : this.#digests().run(name, input);
  }

  /** On the thread of this lane, one after the other. */
  async #runDedicated<K extends TaskName>(
    lane: keyof typeof lanes,
    name: K,
    input: Tasks[K]["input"],
  ): Promise<Tasks[K]["output"]> {
    const thread = this.#dedicated.get(lane) ?? this.#start(lanes[lane]);
    this.#dedicated.set(lane, thread);
    return thread.run(name, input);
  }

  #start(limits: ThreadLimits): WorkerThread {
    if (this.#isClosed) throw stopping();
    const idleMs = this.#idleMs ?? limits.idleMs;
    const thread = new WorkerThread(this.#script, { ...limits, idleMs }, () => this.#forget(thread));
    this.#threads.add(thread);
    return thread;
  }

  #forget(thread: WorkerThread): void {
    this.#threads.delete(thread);
    if (this.#digestThread === thread) this.#digestThread = undefined;
    for (const [lane, kept] of this.#dedicated) if (kept === thread) this.#dedicated.delete(lane);
  }
}
