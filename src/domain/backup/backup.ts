import { counted } from "../text.ts";

/** What a backup needs to know of a database. */
export interface DatabaseFacts {
  /** Time of the last write; UTC, milliseconds since 1970; 0 before the first write. */
  readonly savedAt: number;
  readonly records: { readonly clients: number; readonly drivers: number; readonly printers: number };
  /** The digests of the files that records refer to. */
  readonly files: { readonly drivers: readonly string[]; readonly icons: readonly string[] };
}

/** `40 clients, 12 drivers, 2 000 printers` */
export function recordsText({ records: { clients, drivers, printers } }: DatabaseFacts): string {
  return [counted(clients, "client"), counted(drivers, "driver"), counted(printers, "printer")].join(", ");
}

/** The parts of a kept state's file name. */
interface StateName {
  readonly name: string;
  /** Each state has a higher number than all before it, whatever the clock says. States of earlier versions have 0. */
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
  /** The result of reading it; undefined until then. */
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

/** States of earlier versions have no numbers: they come last, in the order of their times. */
export function newestFirst(states: readonly KeptState[]): KeptState[] {
  return [...states].sort((a, b) => b.number - a.number || (a.name < b.name ? 1 : -1));
}

/** The number of manual states that are kept besides the state of each day. */
export const maxManual = 5;

/**
 * The states to keep: the newest good state of each of the last days with a state, the newest manual states besides, and
 * states newer than the oldest of those days that are damaged or not read yet.
 * @param states newest first
 * @param days the number of days
 */
export function statesThatStay(states: readonly KeptState[], days: number): KeptState[] {
  const good = states.filter(isGood);
  const daily = good
    .filter(({ savedAt }, i) => i === 0 || dayOf(good[i - 1]?.savedAt ?? 0) !== dayOf(savedAt))
    .slice(0, days);
  const manual = good.filter((state) => state.isManual && !daily.includes(state)).slice(0, maxManual);
  const last = daily.length < days ? states.length : states.indexOf(daily[days - 1] as KeptState);
  return states.filter((state, i) =>
    isGood(state) ? daily.includes(state) || manual.includes(state) : i < last,
  );
}

/** The number of the UTC day since 1970. */
export function dayOf(time: number): number {
  return Math.floor(time / 86_400_000);
}
