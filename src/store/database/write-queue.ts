import { modeAfter, type SaveMode } from "./saved-file.ts";

/**
 * What a write does. It is synchronous, or a generator that yields where others may come in between; it may run twice.
 * @param isFinal whether nothing may be kept of what it takes away: there is no room
 */
export type Work<T> = (isFinal: boolean) => T | Generator<undefined, T>;

interface PendingWrite {
  readonly work: Work<unknown>;
  /** Whether it frees space, and may use the reserve where there is none. */
  readonly frees: boolean;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
}

interface AppliedWrite {
  readonly pending: PendingWrite;
  readonly result: unknown;
}

interface RefusedWrite {
  readonly pending: PendingWrite;
  readonly error: unknown;
}

/** Why a batch was not saved, and what of it waits for an answer still. */
interface Refusal {
  readonly error: unknown;
  readonly writes: readonly PendingWrite[];
}

/** A copy of what is saved, on which the writes of one batch work. */
export interface Draft {
  /** Does all of a write or nothing. */
  apply(work: () => unknown): Promise<unknown>;
  /** Saves it: from then on it is what is read. */
  save(mode: SaveMode): Promise<void>;
  /** Gives it up, unless it was saved. */
  close(): void;
}

/** Writes that were asked for. Those that arrive while some are being saved share the next save. */
export class WriteQueue {
  readonly #open: () => Draft;
  readonly #waiting: PendingWrite[] = [];
  #saving: Promise<void> | undefined;

  /** @param open opens a draft for a batch */
  constructor(open: () => Draft) {
    this.#open = open;
  }

  /** Settles when the write is on disk, or refused. */
  ask<T>(work: Work<T>, frees: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, frees, done: (result) => resolve(result as T), failed: reject });
      // Whoever asks may have held others up until now.
      this.#saving ??= new Promise(setImmediate).then(() => this.#drain());
    });
  }

  /** Waits until every write that was asked for is on disk or refused. */
  async settle(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) await this.#saveAnyhow(this.#waiting.splice(0));
    } finally {
      this.#saving = undefined;
    }
  }

  /** What frees space is tried again by itself on a full disk: only it may use the reserve. */
  async #saveAnyhow(batch: readonly PendingWrite[]): Promise<void> {
    let mode: SaveMode | undefined = "ordinary";
    for (let rest = batch; mode !== undefined && rest.length > 0; ) {
      const refusal = await this.#save(rest, mode);
      if (refusal === undefined) return;
      mode = modeAfter(mode, refusal.error);
      const again = refusal.writes.filter(({ frees }) => frees && mode !== undefined);
      for (const write of refusal.writes) if (!again.includes(write)) write.failed(refusal.error);
      rest = again;
    }
  }

  /** @returns why the batch was not saved, and the writes that wait for an answer still */
  async #save(batch: readonly PendingWrite[], mode: SaveMode): Promise<Refusal | undefined> {
    const done: AppliedWrite[] = [];
    const wrong: RefusedWrite[] = [];
    let draft: Draft | undefined;
    try {
      draft = this.#open();
      for (const pending of batch) await applyOne(draft, pending, mode === "final", done, wrong);
      if (done.length > 0) await draft.save(mode);
      for (const { pending, result } of done) pending.done(result);
      return undefined;
    } catch (error) {
      const writes = draft === undefined ? batch : done.map(({ pending }) => pending);
      return { error, writes };
    } finally {
      draft?.close();
      // What refused them may be another write of the batch: by now it is what is read, or was taken back.
      for (const { pending, error } of wrong) pending.failed(error);
    }
  }
}

async function applyOne(
  draft: Draft,
  pending: PendingWrite,
  isFinal: boolean,
  done: AppliedWrite[],
  wrong: RefusedWrite[],
): Promise<void> {
  try {
    done.push({ pending, result: await draft.apply(() => pending.work(isFinal)) });
  } catch (error) {
    wrong.push({ pending, error });
  }
}
