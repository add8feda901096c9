import type { RunResult } from "./powershell.ts";
import type { Change } from "./scenario-changes.ts";

type Registry = RunResult["machine"]["Registry"];
type Values = Readonly<Record<string, unknown>>;

interface KeyChange {
  readonly before: Values | undefined;
  readonly after: Values | undefined;
  /** The groups of the pattern in the key's path. */
  readonly groups: readonly string[];
}

/**
 * The keys that scripts write, with the description of a change. USERS becomes the number of users with the same change.
 * An empty description: another change already covers it.
 */
const meanings: readonly (readonly [key: RegExp, name: (change: KeyChange) => string])[] = [
  [/^HKEY_LOCAL_MACHINE\\SOFTWARE\\Platen\\Printers\\[^\\]+$/, () => "marker"],
  [/^HKEY_LOCAL_MACHINE\\SOFTWARE\\Platen(?:\\Ports)?$/, () => ""],
  [/\\Active Setup\\Installed Components\\Platen$/, () => "script at each user’s next log-on"],
  [/\\Active Setup\\Installed Components\\Platen-/, () => "log-on command of an earlier version of Platen"],
  [/^HKEY_LOCAL_MACHINE\\.*\\CurrentVersion\\Run$/, () => "script at every log-on"],
  [
    /^HKEY_LOCAL_MACHINE\\.*\\Print\\Connections\\(,,.+)$/,
    (change) => `${connectionOf(change)} of the machine`,
  ],
  [/^HKEY_USERS\\[^\\]+\\Printers\\Connections\\(,,.+)$/, (change) => `${connectionOf(change)} of USERS`],
  [
    /^HKEY_USERS\\[^\\]+\\Printers\\DevMode/,
    (change) => `own preferences of USERS (${removedValues(change)})`,
  ],
  [
    /^HKEY_USERS\\[^\\]+\\Software\\Microsoft\\Windows NT\\CurrentVersion\\Windows$/,
    ({ after }) => `default printer of USERS (now ${String(after?.Device ?? "none").split(",")[0]})`,
  ],
  // Users' lists of printers, and the commands at log-on that have already run for a user.
  [
    /^HKEY_USERS\\[^\\]+\\Software\\Microsoft\\Windows NT\\CurrentVersion\\(?:Devices|PrinterPorts)$/,
    () => "",
  ],
  [/^HKEY_USERS\\[^\\]+\\Software\\Platen(?:\\|$)/, () => ""],
  [/\\Client Side Rendering Print Provider\\/, () => ""],
  // Windows' own entries for drivers and ports.
  [/\\Control\\Print\\(?:Environments|Monitors)(?:\\|$)/, () => ""],
];

/** The changes of the registry, each description once. */
export function registryChanges(before: Registry, after: Registry): Change[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = paths.filter((path) => JSON.stringify(before[path]) !== JSON.stringify(after[path]));
  const all = changed.map((path) => ({
    user: /^HKEY_USERS\\([^\\]+)/.exec(path)?.[1],
    verb: verbOf(before[path], after[path]),
    name: nameOf(path, before[path], after[path]),
  }));
  return [...new Set(all.filter(({ name }) => name !== "").map(({ verb, name }) => `${verb} ${name}`))].map(
    (key) => {
      const alike = all.filter(({ verb, name }) => `${verb} ${name}` === key);
      const users = new Set(alike.map(({ user }) => user)).size;
      const [{ verb, name } = { verb: "changed" as const, name: "" }] = alike;
      return { verb, what: name.replace("USERS", users === 1 ? "a user" : `${users} users`) };
    },
  );
}

function verbOf(before?: Values, after?: Values): Change["verb"] {
  if (before === undefined) return "added";
  return after === undefined ? "removed" : "changed";
}

function nameOf(path: string, before?: Values, after?: Values): string {
  for (const [key, name] of meanings) {
    const match = key.exec(path);
    if (match !== null) return name({ before, after, groups: match.slice(1) });
  }
  // An empty key is listed only while it has no subkeys.
  return Object.keys({ ...before, ...after }).length === 0 ? "" : `registry key \`${path}\``;
}

const connectionOf = ({ groups: [key = ""] }: KeyChange) =>
  `connection \`\\\\${key.slice(2).replace(",", "\\")}\``;

function removedValues({ before = {}, after = {} }: KeyChange): string {
  const removed = Object.keys(before).filter((name) => !(name in after));
  return `without ${removed.join(", ")}`;
}
