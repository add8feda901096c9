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

const statePattern = /^platen-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z\.sqlite$/;

/** `platen-2026-11-22T140559.123Z.sqlite`. @param savedAt UTC, milliseconds since 1970 */
export function stateName(savedAt: number): string {
  return `platen-${new Date(savedAt).toISOString().replaceAll(":", "")}.sqlite`;
}

/** The time in a state's name; undefined where it is no such name. */
export function stateTime(name: string): number | undefined {
  const [, day, hours, minutes, seconds] = statePattern.exec(name) ?? [];
  const time = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(time) || stateName(time) !== name ? undefined : time;
}

/** The UTC day of a time, as a number that grows by one each day. */
export function dayOf(time: number): number {
  return Math.floor(time / 86_400_000);
}
