import { fileOf } from "../domain/driver.ts";
import { withUnseenShown } from "../domain/look.ts";
import type { InfReading } from "../inf/package.ts";
import type { SideEffects } from "../inf/side-effects.ts";

// What a vendor, or who only says so, put into INFs that nobody expects in a printer's driver.

/** Of a name or path in a warning. */
const mostCharacters = 120;
/** Sentences and names of one kind. */
const shown = 4;

/** The end of a long name, every character of it to be seen. */
export function shownName(text: string): string {
  const seen = withUnseenShown(text.slice(-mostCharacters));
  return text.length <= mostCharacters && seen.length <= mostCharacters
    ? seen
    : `…${seen.slice(1 - mostCharacters)}`;
}

const deeds: readonly (readonly [kind: keyof SideEffects, clause: string])[] = [
  ["services", "installs services"],
  ["programs", "runs or brings other programs"],
  ["keys", "changes registry keys by which Windows starts programs or decides whom it trusts"],
  ["folders", "copies files to other places than drivers’"],
  ["files", "deletes, renames or changes files"],
];

/** Printers' INFs, and those that they bring along, that do more than to bring a driver; a sentence each. */
export function sideEffectWarnings(readings: readonly InfReading[]): string[] {
  const printers = readings.filter(({ version }) => version.isPrinter);
  const copied = new Set(printers.flatMap(({ files }) => files.copyInf.map((name) => fileName(name))));
  const concerned = readings.filter(({ path, version }) => version.isPrinter || copied.has(fileName(path)));
  const found = concerned.flatMap(({ path, files }) => {
    const clauses = deeds.flatMap(([kind, clause]) => {
      const names = files.sideEffects[kind];
      return names.length === 0 ? [] : [`${clause} (${someOf(names)})`];
    });
    return clauses.length === 0
      ? []
      : [`“${shownName(path)}” does more than a printer’s driver needs: it ${clauses.join("; it ")}.`];
  });
  const rest = found.length > shown ? [`${found.length - shown} more INFs of this ZIP do such things.`] : [];
  return [...found.slice(0, shown), ...rest];
}

/** There are more than are named: INFs are not read for all. */
function someOf(names: readonly string[]): string {
  const rest = names.length > shown ? " and others" : "";
  return names.slice(0, shown).map(shownName).join(", ") + rest;
}

function fileName(path: string): string {
  return fileOf(path.replaceAll("\\", "/")).trim().toLowerCase();
}
