import { counted } from "../text.ts";

/** The facts about a database that backups use. */
export interface DatabaseFacts {
  /** Time of the last write; UTC, milliseconds since 1970; 0 before the first write. */
  readonly savedAt: number;
  readonly records: { readonly clients: number; readonly drivers: number; readonly printers: number };
  /** The digests of the files that records refer to. */
  readonly files: Readonly<Record<"drivers" | "icons" | "preferences", readonly string[]>>;
  /** The digest of the file `secret`. Empty if the database does not know it. */
  readonly secretSha256: string;
}

/** `40 clients, 12 drivers, 2 000 printers` */
export function recordsText({ records: { clients, drivers, printers } }: DatabaseFacts): string {
  return [counted(clients, "client"), counted(drivers, "driver"), counted(printers, "printer")].join(", ");
}

/** The file name of a kept state, and what it says. */
interface StateName {
  readonly name: string;
  /** Higher than that of every earlier state, even if the clock was set back. States from earlier versions have 0. */
  readonly number: number;
  /** Time of the last write in this state; UTC, milliseconds since 1970. */
  readonly savedAt: number;
  /** Whether a user requested it with the button. */
  readonly isManual: boolean;
}

/** A state of the database that is kept beside it. */
export interface KeptState extends StateName {
  /** In bytes. */
  readonly size: number;
  /** The result of reading the file; undefined until it is read. */
  readonly checked?: {
    readonly at: number;
    /** Undefined when the state is not good. */
    readonly facts: DatabaseFacts | undefined;
    /** Undefined when the state is good. */
    readonly problem: string | undefined;
  };
}

/** Whether a state was read without a problem. */
export function isGood({ checked }: KeptState): boolean {
  return checked?.facts !== undefined;
}

const statePattern = /^platen-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z(?:-(\d{1,15}))?(-asked)?\.sqlite$/;

/** `platen-2026-11-22T140559.123Z-17.sqlite` or `…-17-asked.sqlite` */
export function stateName({ number, savedAt, isManual }: Omit<StateName, "name">): string {
  const time = new Date(savedAt).toISOString().replaceAll(":", "");
  return `platen-${time}-${number}${isManual ? "-asked" : ""}.sqlite`;
}

/** Undefined when `name` is not the name of a state. */
export function parseStateName(name: string): StateName | undefined {
  const [, day, hours, minutes, seconds, number = "0", manual] = statePattern.exec(name) ?? [];
  const savedAt = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  if (Number.isNaN(savedAt)) return undefined;
  return { name, savedAt, number: Number(number), isManual: manual !== undefined };
}

/** States from earlier versions have no numbers: they come last, sorted by their times. */
export function newestFirst(states: readonly KeptState[]): KeptState[] {
  return [...states].sort((a, b) => b.number - a.number || (a.name < b.name ? 1 : -1));
}

/** The maximum number of manual states that are kept besides the daily ones. */
export const maxManual = 5;

/**
 * The states to keep: for each of the last `days` days with a good state, the newest good state (a daily state); the
 * newest other manual states; and damaged or unread states that are newer than the oldest daily state.
 * @param states newest first
 */
export function statesToKeep(states: readonly KeptState[], days: number): KeptState[] {
  const good = states.filter(isGood);
  const daily = good
    .filter(({ savedAt }, i) => i === 0 || dayOf(good[i - 1]?.savedAt ?? 0) !== dayOf(savedAt))
    .slice(0, days);
  const manual = good.filter((state) => state.isManual && !daily.includes(state)).slice(0, maxManual);
  const end = daily.length < days ? states.length : states.indexOf(daily[days - 1] as KeptState);
  return states.filter((state, i) =>
    isGood(state) ? daily.includes(state) || manual.includes(state) : i < end,
  );
}

/** The number of the UTC day since 1970. */
export function dayOf(time: number): number {
  return Math.floor(time / 86_400_000);
}
