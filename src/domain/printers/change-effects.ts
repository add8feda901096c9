import { groupBy } from "../collections.ts";
import type { Architecture } from "../drivers/driver.ts";
import type { AffectedPrinter } from "../drivers/driver-effects.ts";
import type { Finding, State } from "./findings.ts";
import type { PrinterWithState } from "./listings.ts";
import type { Printer } from "./printer.ts";
import { architecturesOf } from "./printer-drivers.ts";

/** The fields that a change of many printers sets. */
export type PrinterChange = Partial<
  Pick<Printer, "client_id" | "driver_id" | "driver_desc" | "arm64_driver_id" | "arm64_driver_desc">
>;

/** How a change of many printers affects them. */
export interface ChangeEffects {
  /** Printers that get a new reason to be blocked or to need attention, by that reason. Blocked ones are first. */
  readonly worse: readonly {
    readonly state: Exclude<State, "ready">;
    readonly text: string;
    readonly printers: readonly AffectedPrinter[];
  }[];
  /** Printers whose new driver has no files for machines that the old one supports. */
  readonly lostMachines: readonly {
    readonly machines: readonly Architecture[];
    readonly printers: readonly AffectedPrinter[];
  }[];
  /** The number of printers whose machines install again. */
  readonly redeployed: number;
}

/** The numbers of printers that a change made worse. */
export type WorseCounts = Readonly<Record<Exclude<State, "ready">, number>>;

export function worseCounts({ worse }: Pick<ChangeEffects, "worse">): WorseCounts {
  const counts = { blocked: 0, attention: 0 };
  for (const { state, printers } of worse) counts[state] += printers.length;
  return counts;
}

/** @param before the changed printers as they are @param after the same printers as the change makes them, in the same order */
export function changeEffects(
  before: readonly PrinterWithState[],
  after: readonly PrinterWithState[],
): ChangeEffects {
  const pairs = after.flatMap((now, i) => {
    const was = before[i];
    return was === undefined ? [] : { was, now };
  });
  const worse = pairs.flatMap(({ was, now }) => {
    // The text of the same kind may differ: it names other printers.
    const key = ({ kind, state, isArm64 }: Finding) => `${kind} ${state} ${isArm64}`;
    const finding = now.findings.find((found) => was.findings.every((known) => key(known) !== key(found)));
    return finding?.state === now.state ? { key: `${finding.state} ${finding.text}`, finding, now } : [];
  });
  const lost = pairs.flatMap(({ was, now }) => {
    const machines = lostMachines(was, now);
    return machines.length === 0 ? [] : { key: machines.join(), machines, now };
  });
  return {
    worse: groupsOf(worse, ({ finding: { state, text } }) => ({ state, text })).sort(
      (a, b) => Number(b.state === "blocked") - Number(a.state === "blocked"),
    ),
    lostMachines: groupsOf(lost, ({ machines }) => ({ machines })),
    redeployed: pairs.filter(({ was, now }) => now.driver && deployed(was) !== deployed(now)).length,
  };
}

interface Grouped {
  readonly key: string;
  readonly now: PrinterWithState;
}

function groupsOf<T extends Grouped, R>(found: readonly T[], describe: (first: T) => R) {
  return [...groupBy(found, ({ key }) => key).values()].flatMap((group) => {
    const [first] = group;
    const printers = group.map(({ now: { printer, client } }) => {
      return { id: printer.id, name: printer.name, client: client?.name };
    });
    return first === undefined ? [] : { ...describe(first), printers };
  });
}

/** None without a new driver, which is a finding of its own. */
function lostMachines(was: PrinterWithState, now: PrinterWithState): Architecture[] {
  const { driver } = now;
  if (was.driver === undefined || driver === undefined) return [];
  const left = architecturesOf({ ...now, driver });
  return architecturesOf({ ...was, driver: was.driver }).filter((name) => !left.includes(name));
}

/** What machines install for a printer, as far as a change of its drivers and models changes it. */
function deployed({ printer, driver, arm64Driver }: PrinterWithState): string {
  const arm64 = arm64Driver && [arm64Driver.id, printer.arm64_driver_desc || arm64Driver.driver_desc];
  return JSON.stringify([driver?.id, printer.driver_desc || driver?.driver_desc, arm64]);
}
