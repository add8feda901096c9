// Tests by transcript. A story runs scripts on a simulated machine. test/scripts/transcripts/<subject>.txt has what each run
// must print, call and change. `WRITE_SCENARIOS=1 npm test -- scripts/` writes these files again: read the difference.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { deployable, type Simulation } from "./powershell.ts";
import { describeChanges } from "./scenario-changes.ts";
import { queue } from "./simulated-machine.ts";
import { simulatedWindows } from "./simulated-windows.ts";
import { play, type State, type Step, type Values } from "./steps.ts";

/** The steps of each story, by what it proves. */
type Stories = Readonly<Record<string, readonly Step[]>>;

/** A story for each key of `values`. */
export const storiesOf = <T>(
  values: Readonly<Record<string, T>>,
  name: (key: string) => string,
  steps: (value: T) => readonly Step[],
): Stories => Object.fromEntries(Object.entries(values).map(([key, value]) => [name(key), steps(value)]));

const isWriting = process.env.WRITE_SCENARIOS === "1";

/** Control characters, and those that reverse the text direction; joiners belong to words. */
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Declares a test for each story. */
export function tellStories(subject: string, stories: Stories): void {
  const path = `test/scripts/transcripts/${subject}.txt`;
  const sections = (existsSync(path) ? readFileSync(path, "utf8") : "")
    .replaceAll("\r\n", "\n")
    .split(/^## /m)
    .slice(1);
  const expected = new Map(sections.map((section) => [section.slice(0, section.indexOf("\n")), section]));
  const told: string[] = [];
  const names = Object.keys(stories);
  after(() => {
    if (isWriting && told.length === names.length)
      writeFileSync(path, told.map((each) => `## ${each}`).join(""));
  });

  test(`transcripts/${subject}.txt has each story and no other`, {
    skip: isWriting && "it is written",
  }, () => {
    assert.deepEqual([...expected.keys()], names);
  });
  for (const [name, steps] of Object.entries(stories)) {
    test(name, async () => {
      const transcript = `${name}\n${(await tell(simulatedWindows(), steps)).join("\n")}\n\n`;

      told.push(transcript);
      if (!isWriting) assert.equal(transcript.trimEnd(), expected.get(name)?.trimEnd());
    });
  }
}

async function tell(windows: Simulation, steps: readonly Step[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const { line, before: timedBefore, result: timed } of play(windows, steps, deployable())) {
    const before = withoutTimes(timedBefore);
    const result = { ...timed, machine: withoutTimes(timed.machine) };
    assert.equal(result.left, 0, "something is left in the temporary folder");
    const log = logLines(result.log);
    for (const text of [...result.output, ...log]) assert.doesNotMatch(text, unprintable);
    const seconds = (result.machine.Slept - before.Slept) / 1000;
    lines.push(
      `> ${line}: ${result.code}${seconds > 0 ? ` after ${seconds} s` : ""}`,
      ...result.output,
      `= ${describeChanges(before, result)}`,
      ...queueLines(before.Queues, result.machine.Queues),
      ...registryLines(before.Registry, result.machine.Registry),
      ...callLines(result.calls),
      ...result.machine.Requested.slice(before.Requested.length).map((url) => `requested: ${url}`),
      ...result.logFolders
        .filter((folder) => folder !== "Windows/Logs/Platen")
        .map((folder) => `log in ${folder}`),
      ...log,
    );
  }
  return lines.map((line) => plain(windows, line));
}

/** Times differ from run to run, and two runs may have the same. */
const withoutTimes = (state: State): State => {
  const text = JSON.stringify(state.Registry)
    .replaceAll(/\b20\d\d,\d{4},\d{4},\d\d\b/g, "VERSION")
    .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z?/g, "TIME");
  return { ...state, Registry: JSON.parse(text) };
};

/** Replaces what differs from run to run. */
const plain = (windows: Simulation, line: string) =>
  line
    .replaceAll(windows.folder, "FOLDER")
    .replaceAll(JSON.stringify(windows.folder).slice(1, -1), "FOLDER")
    .replaceAll(/FOLDER[^\s"]*/g, (path) => path.replaceAll(/[\\/]+/g, "/"))
    .replaceAll(/\b(WSD|platen)-(?=[0-9a-f]{8})[-\w]{20,}/g, "$1-…")
    .replaceAll(/\b20\d\d-\d\d-\d\d[T ][\d:.]+Z?|\b\d\d\/\d\d\/20\d\d \d\d:[\d:]+/g, "TIME")
    .replaceAll(/(?<=its SHA-256 is )[0-9A-F]{64}/g, "…")
    .replaceAll(/"([0-9A-F])\1{63}"/g, "$1×64")
    .replaceAll(new RegExp(unprintable, "gu"), (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);

/** Windows' own entries, and values that the log has or that differ from run to run. */
const unshownKeys = /\\Control\\Print\\(?:Environments|Monitors)(?:\\|$)/;
const unshownValues = ["Revision", "Deployed"];

const usualQueue = queue("", "");
/** Values that the changes describe, and those of the simulation itself. */
const describedValues = ["Name", "DriverName", "PortName", "Ticket", "Leaving", "GoneAt"];

/** The values of queues that a run changed, or that differ from those of a usual new queue. */
function queueLines(before: State["Queues"], after: State["Queues"]): string[] {
  return after.flatMap((now) => {
    const old: Values = before.find(({ Name }) => Name === now.Name) ?? usualQueue;
    const names = Object.keys(now).filter((name) => !describedValues.includes(name));
    const values = names.sort().flatMap((name) => {
      const [from, to] = [old[name], now[name]].map((value) => JSON.stringify(sorted(value)));
      return from === to ? [] : [`${name} = ${to}`];
    });
    return values.length === 0 ? [] : [`- queue ${now.Name}: ${values.join(", ")}`];
  });
}

/** An object with its keys in order. */
const sorted = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort())
    : value;

function registryLines(before: State["Registry"], after: State["Registry"]): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !unshownKeys.test(key),
  );
  return keys.sort().flatMap((key) => {
    const [old = {}, now = {}] = [before[key], after[key]];
    const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort();
    const changed = names.filter(
      (name) => !unshownValues.includes(name) && JSON.stringify(old[name]) !== JSON.stringify(now[name]),
    );
    const values = changed.map((name) => `${name} = ${JSON.stringify(now[name]) ?? "none"}`);
    return values.length === 0 ? [] : [`- ${key}: ${values.join(", ")}`];
  });
}

/** The log, without what depends on this PowerShell: its version, lines of the script, and errors without a code. */
function logLines(log: string): string[] {
  const messages = log.split(/\r?\n/).map((line) => line.replace(/^[-\d]{10} [:\d]{8} \[\d+\] /, ""));
  return messages
    .filter((message) => message !== "" && !/^\w+ starts: PowerShell|^Failed at /.test(message))
    .map((message) => `log: ${message.replace(/\(\): .*/, "()")}`);
}

/** All calls but queries of Windows, in order. Writes to the registry are not counted: a time is written only if it has changed. */
function callLines(calls: readonly string[]): string[] {
  const shown = calls.filter((call) => !call.startsWith("Get-") || /(?:Address|Answer)$/.test(call));
  const counted: { call: string; count: number }[] = [];
  for (const call of shown) {
    const previous = counted.at(-1);
    if (previous?.call === call) previous.count++;
    else counted.push({ call, count: 1 });
  }
  const texts = counted.map(({ call, count }) =>
    count === 1 || call.startsWith("registry ") ? call : `${call} ×${count}`,
  );
  return texts.length === 0 ? [] : [`calls: ${texts.join(", ")}`];
}
