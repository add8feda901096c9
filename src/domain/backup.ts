/** How many records a state of the database has. */
export interface RecordCounts {
  readonly clients: number;
  readonly drivers: number;
  readonly printers: number;
}

/** What a database holds, as far as a backup of it is concerned. */
export interface DatabaseFacts {
  /** When it was written last; UTC, milliseconds since 1970; 0 where nothing ever was. */
  readonly savedAt: number;
  readonly records: RecordCounts;
  /** The digests of the files that records refer to. */
  readonly files: { readonly drivers: readonly string[]; readonly icons: readonly string[] };
}

/** A state of the database that is kept beside it. */
export interface KeptState {
  /** The file's name; they sort by time. */
  readonly name: string;
  /** Of the database when this was its state; UTC, milliseconds since 1970. */
  readonly savedAt: number;
  /** In bytes. */
  readonly size: number;
  /** Undefined where it was not read since it was found. */
  readonly checked:
    | undefined
    | { readonly at: number; readonly problem?: undefined; readonly facts: DatabaseFacts }
    | { readonly at: number; readonly problem: string };
}

/** A state that was read and is whole. */
export type GoodState = KeptState & { readonly checked: { readonly facts: DatabaseFacts } };

export function isGood(state: KeptState): state is GoodState {
  return state.checked !== undefined && state.checked.problem === undefined;
}

const statePattern = /^platen-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z(?:-asked)?\.sqlite$/;
const askedEnding = "-asked.sqlite";

/** `platen-2026-11-22T140559.123Z.sqlite`, or `…Z-asked.sqlite`. @param savedAt UTC, milliseconds since 1970 */
export function stateName(savedAt: number, isAsked: boolean): string {
  const time = new Date(savedAt).toISOString().replaceAll(":", "");
  return `platen-${time}${isAsked ? askedEnding : ".sqlite"}`;
}

/** The time in a state's name; undefined where it is no such name. */
export function stateTime(name: string): number | undefined {
  const [, day, hours, minutes, seconds] = statePattern.exec(name) ?? [];
  const time = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(time) || stateName(time, isAsked({ name })) !== name ? undefined : time;
}

/** Whether somebody asked for a state to be kept. */
export function isAsked({ name }: Pick<KeptState, "name">): boolean {
  return name.endsWith(askedEnding);
}

/** So many states that somebody asked for are kept besides those of each day, the newest ones. */
export const mostAsked = 5;

/**
 * Which states stay: the newest good one of each of the last days, of others that somebody asked for the newest, and
 * those that are not good or not read as long as they are no older than the last of these days.
 * @param states the newest first
 * @param days how many
 */
export function statesThatStay(states: readonly KeptState[], days: number): KeptState[] {
  const good = states.filter(isGood);
  const daily = good.filter(
    ({ savedAt }, i) => i === 0 || dayOf(good[i - 1]?.savedAt ?? 0) !== dayOf(savedAt),
  );
  const last = daily[days - 1]?.savedAt ?? Number.NEGATIVE_INFINITY;
  const kept: KeptState[] = daily.slice(0, days);
  const asked = good.filter((state) => isAsked(state) && !kept.includes(state));
  const stays = new Set([...kept, ...asked.slice(0, mostAsked)]);
  return states.filter((state) => stays.has(state) || (!isGood(state) && state.savedAt >= last));
}

/** The UTC day of a time, as a number that grows by one each day. */
export function dayOf(time: number): number {
  return Math.floor(time / 86_400_000);
}
