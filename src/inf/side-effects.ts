import type { InfDocument } from "./document.ts";
import type { InfLine } from "./lines.ts";
import type { Work } from "./work-budget.ts";

/** What an INF does on a machine besides installing a driver: at most five names of each kind, with tokens replaced. */
export interface SideEffects {
  /** Names of the services that it installs. */
  readonly services: readonly string[];
  /** Programs that it runs or registers during the installation, and software that it adds. */
  readonly programs: readonly string[];
  /** Registry keys that make Windows start or trust programs. */
  readonly keys: readonly string[];
  /** Folders to which it copies files, other than the usual folders of drivers. */
  readonly folders: readonly string[];
  /** Sections of files that it deletes or renames, and INI files that it changes. */
  readonly files: readonly string[];
}

/** Names of one kind. */
const maxNames = 5;
const maxCharacters = 100;

type Kind = keyof SideEffects;

/**
 * Directives of install sections (“INF Directives” in Microsoft's documentation). The first value of an `Add…`
 * directive is the name; `AddService=,2` adds none.
 */
const directives: ReadonlyMap<string, Kind> = new Map([
  ["addservice", "services"],
  ["registerdlls", "programs"],
  ["unregisterdlls", "programs"],
  ["runpresetupcommands", "programs"],
  ["runpostsetupcommands", "programs"],
  ["addsoftware", "programs"],
  ["addcomponent", "programs"],
  ["delfiles", "files"],
  ["renfiles", "files"],
]);

/** Parts of registry keys, in lower case. A driver's own settings, printing and device classes use other keys. */
const sensitiveKeys: readonly string[] = [
  "\\currentversion\\run",
  "\\currentversion\\explorer\\shell",
  "\\currentversion\\explorer\\user shell",
  "\\currentversion\\policies",
  "\\currentversion\\winlogon",
  "\\currentversion\\windows\\",
  "\\currentversion\\image file execution options",
  "\\currentversion\\silentprocessexit",
  "\\currentversion\\schedule",
  "\\currentversion\\authentication",
  "\\microsoft\\active setup",
  "\\microsoft\\windows defender",
  "\\microsoft\\systemcertificates",
  "\\software\\policies\\",
  "\\control\\lsa",
  "\\control\\session manager",
  "\\control\\securityproviders",
  "\\control\\safeboot",
  "\\services\\",
  "\\shell\\open\\command",
  "\\environment\\",
];
/** Windows before 2000 kept device classes here, and INFs of old printers still name them. */
const oldClassKeys = "\\services\\class\\";

/**
 * Numbers of folders (“Using Dirids” in Microsoft's documentation) to which printer drivers usually copy: the drivers'
 * folders, System32, its 32-bit counterpart, colour profiles.
 */
const driverFolders = new Set(["11", "13", "23", "51", "52", "55", "16425"]);

/** @param sections the sections that Windows may install, in lower case */
export function readSideEffects(inf: InfDocument, sections: Iterable<string>, work: Work): SideEffects {
  const found = new FoundEffects();
  for (const section of sections) {
    for (const line of inf.section(section) ?? []) {
      work.spend(1);
      readDirective(inf, line, found, work);
    }
  }
  for (const { key, values } of inf.section("DestinationDirs") ?? []) {
    work.spend(1);
    const folder = values.slice(0, 2).map((value) => inf.resolve(value));
    if (key !== undefined && !isDriverFolder(folder)) found.add("folders", folder.join("\\"));
  }
  return found.lists;
}

class FoundEffects {
  readonly lists: Record<Kind, string[]> = { services: [], programs: [], keys: [], folders: [], files: [] };
  readonly #directives = new Set<string>();

  /** Records a directive with a name. Returns whether the pair is new. */
  addDirective(directive: string, name: string): boolean {
    const known = this.#directives.size;
    return this.#directives.add(`${directive} ${name.toLowerCase()}`).size > known;
  }

  add(kind: Kind, name: string): void {
    const names = this.lists[kind];
    const short = name.slice(0, maxCharacters);
    if (names.length < maxNames && !names.includes(short)) names.push(short);
  }
}

type SectionReader = (inf: InfDocument, name: string, found: FoundEffects, work: Work) => void;

const sectionReaders: ReadonlyMap<string, SectionReader> = new Map([
  ["copyfiles", readCopies],
  ["addreg", readRegistry],
  ["updateinis", readInis],
]);

function readDirective(inf: InfDocument, { key, values }: InfLine, found: FoundEffects, work: Work): void {
  const directive = key?.toLowerCase() ?? "";
  const kind = directives.get(directive);
  const read = sectionReaders.get(directive);
  if (kind === undefined && read === undefined) return;
  const named = directive.startsWith("add") && kind !== undefined ? values.slice(0, 1) : values;
  const names = named.map((value) => inf.resolve(value).trim());
  for (const name of names.filter((name) => name !== "" && found.addDirective(directive, name))) {
    if (kind !== undefined) found.add(kind, name);
    read?.(inf, name, found, work);
  }
}

function readRegistry(inf: InfDocument, section: string, found: FoundEffects, work: Work): void {
  for (const { values } of inf.section(section) ?? []) {
    work.spend(1);
    const [root = "", path = ""] = values.slice(0, 2).map((value) => inf.resolve(value));
    const key = `\\${path.replaceAll("/", "\\")}\\`.toLowerCase().replace(/\\+/g, "\\");
    const isSensitive = !key.includes(oldClassKeys) && sensitiveKeys.some((part) => key.includes(part));
    if (isSensitive) found.add("keys", `${root}\\${path}`);
  }
}

/** Finds files whose names lead out of their folder in `[DestinationDirs]`. */
function readCopies(inf: InfDocument, name: string, found: FoundEffects, work: Work): void {
  const lines = name.startsWith("@") ? [{ key: undefined, values: [name.slice(1)] }] : inf.section(name);
  for (const { key, values } of lines ?? []) {
    work.spend(1);
    const target = inf.resolve(values[0] ?? key ?? "");
    if (leavesFolder(target)) found.add("folders", target);
  }
}

function leavesFolder(path: string): boolean {
  return path.replaceAll("/", "\\").split("\\").includes("..") || /^(?:[a-z]:|[\\/])/i.test(path.trim());
}

/** Changes to win.ini do not count: INFs of old printers record ports in it. */
function readInis(inf: InfDocument, section: string, found: FoundEffects, work: Work): void {
  for (const { values } of inf.section(section) ?? []) {
    work.spend(1);
    const [file = ""] = values.slice(0, 1).map((value) => inf.resolve(value));
    if (file !== "" && file.toLowerCase() !== "win.ini") found.add("files", file);
  }
}

function isDriverFolder([number = "", inside = ""]: readonly string[]): boolean {
  if (leavesFolder(inside.replace(/^\\+/, ""))) return false;
  return driverFolders.has(number) || /^6600[0-4]$/.test(number);
}
