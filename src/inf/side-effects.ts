import type { InfDocument } from "./document.ts";
import type { InfLine } from "./lines.ts";
import type { Work } from "./work.ts";

/** What an INF does on a machine besides bringing a driver: names as it writes them, a few of each. */
export interface SideEffects {
  /** That it installs, by name. */
  readonly services: readonly string[];
  /** That it runs or registers while it is installed, and software that it brings. */
  readonly programs: readonly string[];
  /** Registry keys by which Windows starts programs or decides whom it trusts. */
  readonly keys: readonly string[];
  /** Where it copies files to besides the folders of drivers. */
  readonly folders: readonly string[];
  /** Sections of files that it deletes or renames, and INI files that it changes. */
  readonly files: readonly string[];
}

/** Of each kind; nobody reads more. */
const maxNamed = 5;
const maxCharacters = 100;

type Kind = keyof SideEffects;

/**
 * Directives of install sections (“INF Directives” of Microsoft's documentation). What is added is named by the first
 * value: `AddService=,2` says that there is none.
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

/**
 * Parts of registry keys, in lower case. A driver's own settings, those of printing and of device classes stand
 * elsewhere.
 */
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
/** In front of Windows 2000 device classes stood here, and old printers' INFs still name theirs. */
const oldClasses = "\\services\\class\\";

/** Numbers of folders (“Using Dirids”) to which printers' drivers copy: theirs, System32, its 32-bit twin, colours. */
const driverFolders = new Set(["11", "13", "23", "51", "52", "55", "16425"]);

/** @param sections that Windows may install, in lower case */
export function readSideEffects(inf: InfDocument, sections: Iterable<string>, work: Work): SideEffects {
  const found = new Found();
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

class Found {
  readonly #names = new Map<Kind, Set<string>>();
  readonly #lines = new Set<string>();

  get lists(): SideEffects {
    const list = (kind: Kind) => [...(this.#names.get(kind) ?? [])];
    return {
      services: list("services"),
      programs: list("programs"),
      keys: list("keys"),
      folders: list("folders"),
      files: list("files"),
    };
  }

  /** Whether no line before had this directive with this name. */
  isNew(directive: string, name: string): boolean {
    const known = this.#lines.size;
    return this.#lines.add(`${directive} ${name.toLowerCase()}`).size > known;
  }

  add(kind: Kind, name: string): void {
    const names = this.#names.get(kind) ?? new Set();
    this.#names.set(kind, names);
    if (names.size < maxNamed) names.add(name.slice(0, maxCharacters));
  }
}

/** Reads a section that a directive names. */
type SectionReader = (inf: InfDocument, name: string, found: Found, work: Work) => void;

const sectionReaders: ReadonlyMap<string, SectionReader> = new Map([
  ["copyfiles", readCopies],
  ["addreg", readRegistry],
  ["updateinis", readInis],
]);

function readDirective(inf: InfDocument, { key, values }: InfLine, found: Found, work: Work): void {
  const directive = key?.toLowerCase() ?? "";
  const kind = directives.get(directive);
  const read = sectionReaders.get(directive);
  if (kind === undefined && read === undefined) return;
  const named = directive.startsWith("add") && kind !== undefined ? values.slice(0, 1) : values;
  const names = named.map((value) => inf.resolve(value).trim());
  for (const name of names.filter((name) => name !== "" && found.isNew(directive, name))) {
    if (kind !== undefined) found.add(kind, name);
    read?.(inf, name, found, work);
  }
}

function readRegistry(inf: InfDocument, section: string, found: Found, work: Work): void {
  for (const { values } of inf.section(section) ?? []) {
    work.spend(1);
    const [root = "", path = ""] = values.slice(0, 2).map((value) => inf.resolve(value));
    const key = `\\${path.replaceAll("/", "\\")}\\`.toLowerCase().replace(/\\+/g, "\\");
    const isSensitive = !key.includes(oldClasses) && sensitiveKeys.some((part) => key.includes(part));
    if (isSensitive) found.add("keys", `${root}\\${path}`);
  }
}

/** Files go where `[DestinationDirs]` says, unless their own names lead on. */
function readCopies(inf: InfDocument, name: string, found: Found, work: Work): void {
  const lines = name.startsWith("@") ? [{ key: undefined, values: [name.slice(1)] }] : inf.section(name);
  for (const { key, values } of lines ?? []) {
    work.spend(1);
    const target = inf.resolve(values[0] ?? key ?? "");
    if (leadsOut(target)) found.add("folders", target);
  }
}

function leadsOut(path: string): boolean {
  return path.replaceAll("/", "\\").split("\\").includes("..") || /^(?:[a-z]:|[\\/])/i.test(path.trim());
}

/** Old printers' INFs note ports in win.ini. */
function readInis(inf: InfDocument, section: string, found: Found, work: Work): void {
  for (const { values } of inf.section(section) ?? []) {
    work.spend(1);
    const [file = ""] = values.slice(0, 1).map((value) => inf.resolve(value));
    if (file !== "" && file.toLowerCase() !== "win.ini") found.add("files", file);
  }
}

function isDriverFolder([number = "", inside = ""]: readonly string[]): boolean {
  if (leadsOut(inside.replace(/^\\+/, ""))) return false;
  return driverFolders.has(number) || /^6600[0-4]$/.test(number);
}
