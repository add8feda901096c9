import { availableParallelism } from "node:os";
import type { OpenFile } from "../domain/byte-source.ts";
import { getOrAdd } from "../domain/collections.ts";
import { stoppingError } from "../domain/errors.ts";
import type { EncryptedPrefix, EncryptionInfo } from "../pkg/formats/checkpoints.ts";
import type { DigestedLayout } from "../pkg/formats/contents.ts";
import { WorkQueue } from "./admission.ts";
import type { LaidOut, PublishedScript, TaskName, Tasks } from "./tasks.ts";
import { WorkerThread } from "./worker-thread.ts";

/** Limit of a thread’s heap. Encryption uses hardly any heap. */
const defaultHeapMb = 24;
/** Layouts need more: a central directory has up to 64 MB. */
const layoutHeapMb = 768;
/** In characters. Longer settings need more memory than the digest thread has. */
const largeSettingsLength = 100_000;
/** How many prefixes are encrypted at a time. With two, a small driver need not wait for a large one. */
const maxConcurrentPrefixes = 2;

interface KindOfWork {
  readonly threads: number;
  /** Tasks at a time, in all threads together. */
  readonly tasks: number;
  readonly heapMb: number;
  /** A thread ends after this time without a task. */
  readonly idleMs: number;
}

type Kind = "digests" | "encryption" | "layouts" | "hashing" | "verifying";

/** @param encrypting number of threads that encrypt; one more thread makes digests */
function kindsOfWork(encrypting: number): Readonly<Record<Kind, KindOfWork>> {
  const hashing = { threads: 1, tasks: 1, heapMb: defaultHeapMb, idleMs: 1000 };
  return {
    // A single thread that never ends, because it keeps the digests of encrypted prefixes.
    digests: { threads: 1, tasks: 4, heapMb: defaultHeapMb, idleMs: Number.POSITIVE_INFINITY },
    // Each thread reads one chunk while it encrypts another.
    encryption: { threads: encrypting, tasks: 2 * encrypting, heapMb: defaultHeapMb, idleMs: 20_000 },
    // Large archives and clients need a large heap, so these threads end soon.
    layouts: { threads: 2, tasks: 2, heapMb: layoutHeapMb, idleMs: 100 },
    hashing,
    // At the lowest priority.
    verifying: hashing,
  };
}

/**
 * Worker threads for work that would block the event loop. They run the same bundled file, start when needed and end
 * when idle. Each kind of work has its own limit and threads, so no kind waits for another.
 */
export class Workers {
  readonly #script: string;
  readonly #kinds: ReturnType<typeof kindsOfWork>;
  readonly #idleMs: number | undefined;
  readonly #queues = new Map<Kind, WorkQueue>();
  readonly #prefixes = new WorkQueue(maxConcurrentPrefixes);
  readonly #threads = new Map<WorkerThread, Kind>();
  #encryptions = 0;
  #isClosed = false;

  /**
   * @param script the bundled file, whose entry is `main.ts`
   * @param size the number of threads that encrypt or make digests
   * @param idleMs overrides the idle time of every kind of work
   */
  constructor(script: string, size = Math.min(4, Math.max(2, availableParallelism())), idleMs?: number) {
    this.#script = script;
    this.#kinds = kindsOfWork(size - 1);
    this.#idleMs = idleMs;
  }

  /** Lays out drivers' files. @throws UserError "invalid" if an archive is damaged, or an INF cannot be read */
  layOutDrivers(input: Tasks["layOutDrivers"]["input"]): Promise<Tasks["layOutDrivers"]["output"]> {
    return this.#run("layouts", "layOutDrivers", input);
  }

  /** Lays out a ZIP that begins with these drivers. @throws UserError "invalid" if it is too large for a ZIP */
  layOut(input: Tasks["layOut"]["input"]): Promise<DigestedLayout> {
    return this.#run(threadKindFor(input.own.settings), "layOut", input);
  }

  renderScript(input: Tasks["renderScript"]["input"]): Promise<Uint8Array> {
    return this.#run(threadKindFor(input.settings), "renderScript", input);
  }

  scriptDigests(input: Tasks["scriptDigests"]["input"]): Promise<Tasks["scriptDigests"]["output"]> {
    return this.#run(threadKindFor(input.settings), "scriptDigests", input);
  }

  renderPublish(input: Tasks["renderPublish"]["input"]): Promise<PublishedScript> {
    return this.#run("layouts", "renderPublish", input);
  }

  /** SHA-256 of the file that a layout describes. */
  digest(input: LaidOut): Promise<Uint8Array> {
    return this.#run("hashing", "digest", input);
  }

  /** SHA-256 of a file, at the lowest priority. */
  verify(file: OpenFile): Promise<Uint8Array> {
    return this.#run("verifying", "verify", { file });
  }

  /** Encrypts the first `size` bytes. The digest thread keeps their digests under this name. */
  encryptPrefix(input: Tasks["encryptPrefix"]["input"]): Promise<EncryptedPrefix> {
    this.#encryptions++;
    return this.#prefixes.run(async () => this.#thread("digests").run("encryptPrefix", input));
  }

  /** Encrypts and digests everything after the prefix with this name. */
  finish(input: Tasks["finish"]["input"]): Promise<EncryptionInfo> {
    return this.#run("digests", "finish", input);
  }

  /** Encrypts one span. @returns how many bytes of `input.encrypted` are filled */
  encrypt(input: Tasks["encrypt"]["input"]): Promise<number> {
    return this.#run("encryption", "encrypt", input);
  }

  /** How many prefixes were encrypted, or are waiting for it, since the start. */
  get encryptions(): number {
    return this.#encryptions;
  }

  /** Ends all threads. Running tasks are rejected, and no new task is accepted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.endThreads();
  }

  /** Ends all threads. Running tasks are rejected. New tasks start new threads. */
  async endThreads(): Promise<void> {
    await Promise.all([...this.#threads.keys()].map((thread) => thread.end()));
  }

  #run<K extends TaskName>(kind: Kind, name: K, input: Tasks[K]["input"]): Promise<Tasks[K]["output"]> {
    const queue = getOrAdd(this.#queues, kind, () => new WorkQueue(this.#kinds[kind].tasks));
    return queue.run(async () => this.#thread(kind).run(name, input));
  }

  /**
   * The thread of this kind with the fewest tasks, or a new one if all are busy and the limit allows it.
   * @throws UserError "busy" after `close`
   */
  #thread(kind: Kind): WorkerThread {
    const { threads: max, heapMb, idleMs } = this.#kinds[kind];
    const known = [...this.#threads.keys()].filter((thread) => this.#threads.get(thread) === kind);
    const [leastBusy] = known.toSorted((a, b) => a.jobCount - b.jobCount);
    if (leastBusy !== undefined && (leastBusy.jobCount === 0 || known.length === max)) return leastBusy;
    if (this.#isClosed) throw stoppingError();
    const limits = { heapMb, idleMs: this.#idleMs ?? idleMs };
    const thread = new WorkerThread(this.#script, limits, () => this.#threads.delete(thread));
    this.#threads.set(thread, kind);
    return thread;
  }
}

function threadKindFor(settings = ""): Kind {
  return settings.length > largeSettingsLength ? "layouts" : "digests";
}
