/** Whoever asked too early has so long to come back, from the moment on when the name is open again. */
const keptMs = 30_000;
/** So many are remembered of one name, those with the fewest failures. */
const mostWaiting = 8;
/** Of so many names; the one that was asked for longest ago goes first. */
const mostNames = 1000;

interface Waiting {
  readonly site: string;
  readonly rank: number;
  readonly until: number;
}

/**
 * Whose turn it is at a name that is slowed: who asked too early comes before those who failed more than they did, so
 * that nobody who keeps failing, from however many addresses, keeps the others out.
 */
export class SignInTurns {
  readonly #names = new Map<string, readonly Waiting[]>();

  /** How many names are remembered. */
  get size(): number {
    return this.#names.size;
  }

  /** @param openAt when the name is open again @param rank how much failed there lately */
  remember(name: string, { site, rank, openAt }: { site: string; rank: number; openAt: number }): void {
    const others = (this.#names.get(name) ?? []).filter((one) => one.site !== site && one.until > openAt);
    const all = [...others, { site, rank, until: openAt + keptMs }];
    this.#keep(name, all.sort((a, b) => a.rank - b.rank).slice(0, mostWaiting));
  }

  /** Until when the turn is somebody's who failed less; 0 where nobody like that waits. */
  keptUntil(name: string, rank: number, now: number): number {
    const before = (this.#names.get(name) ?? []).filter((one) => one.rank < rank && one.until > now);
    return Math.max(0, ...before.map(({ until }) => until));
  }

  /** Whoever took their turn does not wait any more. */
  taken(name: string, site: string): void {
    const waiting = this.#names.get(name);
    if (waiting !== undefined)
      this.#keep(
        name,
        waiting.filter((one) => one.site !== site),
      );
  }

  #keep(name: string, waiting: readonly Waiting[]): void {
    this.#names.delete(name);
    if (waiting.length > 0) this.#names.set(name, waiting);
    const [oldest] = this.#names.keys();
    if (this.#names.size > mostNames && oldest !== undefined) this.#names.delete(oldest);
  }
}
