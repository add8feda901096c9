import { availableParallelism } from "node:os";
import type { OpenFile } from "../domain/byte-source.ts";
import { stopping } from "../domain/errors.ts";
import type { EncryptedPrefix, EncryptionInfo } from "../pkg/formats/checkpoints.ts";
import type { Described } from "../pkg/formats/contents.ts";
import { Admission } from "./admission.ts";
import type { LaidOut, PublishedScript, TaskName, Tasks } from "./tasks.ts";
import { WorkerThread } from "./worker-thread.ts";

/** What a thread’s heap may have: encrypting needs nearly nothing. */
const usualHeapMb = 24;
/** A central directory has up to 64 MB. */
const layoutHeapMb = 768;
/** Settings of more characters need more memory than the digest thread has. */
const largeSettings = 100_000;
/** Drivers whose files are encrypted at a time: a small one does not wait for a large one. */
const prefixesAtOnce = 2;

/** How much of one kind of work is done at a time, and by which threads. */
interface KindOfWork {
  readonly threads: number;
  readonly tasks: number;
  readonly heapMb: number;
  /** How long a thread with nothing to do stays. */
  readonly idleMs: number;
}

type Kind = "digests" | "encryption" | "layouts" | "hashing" | "verifying";

/** @param encrypting threads that encrypt, besides the one that digests what they encrypted */
function kindsOfWork(encrypting: number): Readonly<Record<Kind, KindOfWork>> {
  const hashing = { threads: 1, tasks: 1, heapMb: usualHeapMb, idleMs: 1000 };
  return {
    // It keeps the digests of what packages begin with, so it stays, and it is one.
    digests: { threads: 1, tasks: 4, heapMb: usualHeapMb, idleMs: Number.POSITIVE_INFINITY },
    // Each thread reads one piece while it encrypts another.
    encryption: { threads: encrypting, tasks: 2 * encrypting, heapMb: usualHeapMb, idleMs: 20_000 },
    // A heap is large where an archive or a client is: such a thread soon ends.
    layouts: { threads: 2, tasks: 2, heapMb: layoutHeapMb, idleMs: 100 },
    hashing,
    // At the lowest priority.
    verifying: hashing,
  };
}

/**
 * Worker threads for what would block the event loop. They run the same bundled file, start when they are needed and
 * end when they have nothing to do. Each kind of work has a bound and threads of its own: nothing waits behind another kind.
 */
export class Workers {
  readonly #script: string;
  readonly #kinds: ReturnType<typeof kindsOfWork>;
  readonly #idleMs: number | undefined;
  readonly #queues = new Map<Kind, Admission>();
  readonly #prefixes = new Admission(prefixesAtOnce);
  readonly #threads = new Map<WorkerThread, Kind>();
  #isClosed = false;

  /**
   * @param script the bundled file that `main.ts` became
   * @param size how many threads encrypt or digest
   * @param idleMs how long each thread stays with nothing to do, in place of what is usual for its kind
   */
  constructor(script: string, size = Math.min(4, Math.max(2, availableParallelism())), idleMs?: number) {
    this.#script = script;
    this.#kinds = kindsOfWork(size - 1);
    this.#idleMs = idleMs;
  }

  /** Lays out drivers' files. @throws UserError "invalid" when an archive is damaged, or an INF cannot be read */
  layOutDrivers(input: Tasks["layOutDrivers"]["input"]): Promise<Tasks["layOutDrivers"]["output"]> {
    return this.#run("layouts", "layOutDrivers", input);
  }

  /** Lays out a ZIP that begins with these drivers. @throws UserError "invalid" where no ZIP can hold it */
  layOut(input: Tasks["layOut"]["input"]): Promise<Described> {
    return this.#run(kindFor(input.end.settings), "layOut", input);
  }

  /** A script as a file. */
  renderScript(input: Tasks["renderScript"]["input"]): Promise<Uint8Array> {
    return this.#run(kindFor(input.settings), "renderScript", input);
  }

  /** A script that puts packages into Intune, as a file. */
  renderPublish(input: Tasks["renderPublish"]["input"]): Promise<PublishedScript> {
    return this.#run("layouts", "renderPublish", input);
  }

  /** SHA-256 of all that is laid out. */
  digest(input: LaidOut): Promise<Uint8Array> {
    return this.#run("hashing", "digest", input);
  }

  /** SHA-256 of a file, while nobody else needs the processor. */
  verify(file: OpenFile): Promise<Uint8Array> {
    return this.#run("verifying", "verify", { file });
  }

  /** Encrypts the first `size` bytes and keeps their digests under a name. */
  encryptPrefix(input: Tasks["encryptPrefix"]["input"]): Promise<EncryptedPrefix> {
    return this.#prefixes.run(async () => this.#thread("digests").run("encryptPrefix", input));
  }

  /** Encrypts and digests what stands behind a prefix that was kept under this name. */
  finish(input: Tasks["finish"]["input"]): Promise<EncryptionInfo> {
    return this.#run("digests", "finish", input);
  }

  /** Encrypts one span: how many bytes of its buffer are filled. */
  encrypt(input: Tasks["encrypt"]["input"]): Promise<number> {
    return this.#run("encryption", "encrypt", input);
  }

  /** Ends all threads; whatever they were doing is rejected, and nothing more is begun. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.endThreads();
  }

  /** Ends all threads; whatever they were doing is rejected, and others are started for what comes. */
  async endThreads(): Promise<void> {
    await Promise.all([...this.#threads.keys()].map((thread) => thread.end()));
  }

  #run<K extends TaskName>(kind: Kind, name: K, input: Tasks[K]["input"]): Promise<Tasks[K]["output"]> {
    const queue = this.#queues.get(kind) ?? new Admission(this.#kinds[kind].tasks);
    this.#queues.set(kind, queue);
    return queue.run(async () => this.#thread(kind).run(name, input));
  }

  /**
   * Of this kind the thread with the least to do; a new one where all have something and there may be one more.
   * @throws UserError "busy" when all has been closed
   */
  #thread(kind: Kind): WorkerThread {
    const { threads: max, heapMb, idleMs } = this.#kinds[kind];
    const known = [...this.#threads.keys()].filter((thread) => this.#threads.get(thread) === kind);
    const [freest] = known.toSorted((a, b) => a.jobCount - b.jobCount);
    if (freest !== undefined && (freest.jobCount === 0 || known.length === max)) return freest;
    if (this.#isClosed) throw stopping();
    const limits = { heapMb, idleMs: this.#idleMs ?? idleMs };
    const thread = new WorkerThread(this.#script, limits, () => this.#threads.delete(thread));
    this.#threads.set(thread, kind);
    return thread;
  }
}

function kindFor(settings = ""): Kind {
  return settings.length > largeSettings ? "layouts" : "digests";
}
