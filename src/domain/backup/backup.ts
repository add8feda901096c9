import { counted } from "../text.ts";

/** What a database holds, as far as a backup of it is concerned. */
export interface DatabaseFacts {
  /** When it was written last; UTC, milliseconds since 1970; 0 where nothing ever was. */
  readonly savedAt: number;
  /** How many there are. */
  readonly records: { readonly clients: number; readonly drivers: number; readonly printers: number };
  /** The digests of the files that records refer to. */
  readonly files: { readonly drivers: readonly string[]; readonly icons: readonly string[] };
}

/** `40 clients, 12 drivers, 2 000 printers`. */
export function recordsText({ records: { clients, drivers, printers } }: DatabaseFacts): string {
  return [counted(clients, "client"), counted(drivers, "driver"), counted(printers, "printer")].join(", ");
}

/** What the name of a kept state says. */
interface StateName {
  readonly name: string;
  /** Each state has a higher one than all before it, whatever the clock says. States of earlier versions have none: 0. */
  readonly number: number;
  /** Of the database when this was its state; UTC, milliseconds since 1970. */
  readonly savedAt: number;
  /** Whether a person made it with the button. */
  readonly isAsked: boolean;
}

/** A state of the database that is kept beside it. */
export interface KeptState extends StateName {
  /** In bytes. */
  readonly size: number;
  /** What was found when it was read; undefined until then. */
  readonly checked?: {
    readonly at: number;
    /** Of a good state. */
    readonly facts: DatabaseFacts | undefined;
    /** Why it is not good. */
    readonly problem: string | undefined;
  };
}

/** Whether a state was read and is whole. */
export function isGood({ checked }: KeptState): boolean {
  return checked?.facts !== undefined;
}

const statePattern = /^platen-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z(?:-(\d{1,15}))?(-asked)?\.sqlite$/;

/** `platen-2026-11-22T140559.123Z-17.sqlite`, or `…-17-asked.sqlite`. */
export function stateName({ number, savedAt, isAsked }: Omit<StateName, "name">): string {
  const time = new Date(savedAt).toISOString().replaceAll(":", "");
  return `platen-${time}-${number}${isAsked ? "-asked" : ""}.sqlite`;
}

/** What a state's name says; undefined where it is no such name. */
export function parseStateName(name: string): StateName | undefined {
  const [, day, hours, minutes, seconds, number = "0", asked] = statePattern.exec(name) ?? [];
  const savedAt = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  if (Number.isNaN(savedAt)) return undefined;
  return { name, savedAt, number: Number(number), isAsked: asked !== undefined };
}

/** Those of earlier versions, without numbers, are the oldest, in the order of their times. */
export function newestFirst(states: readonly KeptState[]): KeptState[] {
  return [...states].sort((a, b) => b.number - a.number || (a.name < b.name ? 1 : -1));
}

/** How many states that somebody asked for are kept besides those of each day, the newest ones. */
export const maxAsked = 5;

/**
 * Which states stay: the newest good one of each of the last days, of others that somebody asked for the newest, and
 * those behind the last of these days that are not good or not read.
 * @param states the newest first
 * @param days how many
 */
export function statesThatStay(states: readonly KeptState[], days: number): KeptState[] {
  const good = states.filter(isGood);
  const daily = good
    .filter(({ savedAt }, i) => i === 0 || dayOf(good[i - 1]?.savedAt ?? 0) !== dayOf(savedAt))
    .slice(0, days);
  const asked = good.filter((state) => state.isAsked && !daily.includes(state)).slice(0, maxAsked);
  const last = daily.length < days ? states.length : states.indexOf(daily[days - 1] as KeptState);
  return states.filter((state, i) =>
    isGood(state) ? daily.includes(state) || asked.includes(state) : i < last,
  );
}

/** The UTC day of a time, as a number that grows by one each day. */
export function dayOf(time: number): number {
  return Math.floor(time / 86_400_000);
}
