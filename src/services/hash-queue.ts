import { UserError } from "../domain/errors.ts";

/** Who asks for a hash. */
export interface Asker {
  /** One text for all that a person asks for, or a site under one name. */
  readonly who: string;
  /** How much failed lately where it comes from; `knownRank` for who proved before that they know a password. */
  readonly rank: number;
}

/** Of a browser that was signed in before, and of whoever works here already. */
export const knownRank = -1;

/** So many wait for one another at most; the last places are kept for browsers that were signed in before. */
const mostWaiting = { unknown: 12, known: 20 };
/** So many turns are remembered. */
const remembered = 16;
/** So many of them are nobody's disadvantage: a password is changed with two. */
const ordinary = 2;

interface Job extends Asker {
  readonly run: () => Promise<unknown>;
  readonly refuse: (error: UserError) => void;
}

/**
 * Does one job after the other. Whoever had more than two of the last sixteen turns comes behind everybody who had fewer,
 * so that nobody waits for all that another one asks for; among the others, who failed least goes first.
 */
export class HashQueue {
  /** In the order in which they came. */
  readonly #waiting: Job[] = [];
  /** Whose the last turns were. */
  readonly #served: string[] = [];
  #isBusy = false;

  /** @throws UserError "busy" where all places are taken, or somebody who failed less needs this one */
  async run<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    this.#makeRoom(asker.rank);
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ ...asker, run: () => work().then(resolve, reject), refuse: reject });
      void this.#work();
    });
  }

  /** Where all places are taken, who failed most gives up theirs. @throws UserError "busy" where that is who asks */
  #makeRoom(rank: number): void {
    if (this.#waiting.length < (rank === knownRank ? mostWaiting.known : mostWaiting.unknown)) return;
    const worst = Math.max(...this.#waiting.map((job) => job.rank));
    if (worst <= rank) throw busy();
    const at = this.#waiting.findLastIndex((job) => job.rank === worst);
    for (const job of this.#waiting.splice(at, 1)) job.refuse(busy());
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let job = this.#take(); job !== undefined; job = this.#take()) await job.run();
    this.#isBusy = false;
  }

  #take(): Job | undefined {
    const turns = (who: string) =>
      Math.max(0, this.#served.filter((one) => one === who).length - ordinary + 1);
    const order = this.#waiting.map((job, at) => ({ at, rank: job.rank, turns: turns(job.who) }));
    order.sort((a, b) => a.turns - b.turns || a.rank - b.rank || a.at - b.at);
    const [job] = this.#waiting.splice(order[0]?.at ?? 0, 1);
    if (job !== undefined && this.#served.push(job.who) > remembered) this.#served.shift();
    return job;
  }
}

function busy(): UserError {
  return new UserError("busy", "Too many are signing in at the moment. Try again in a few seconds.");
}
