import { getOrAdd } from "../domain/collections.ts";
import type { Architecture } from "../domain/drivers/driver.ts";
import type { InfDocument } from "./document.ts";
import type { InfLine } from "./lines.ts";
import { architectureOf } from "./models.ts";

/** Suffixes of the sections that belong to an install section. */
const sectionSuffixes = [".CoInstallers", ".HW", ".Interfaces", ".Services", ".Components", ".Software"];

/** Entries of printers' install and data sections that name the driver's files (“Printer INF File Entries”). */
const fileEntries = new Set(["driverfile", "datafile", "configfile", "helpfile", "dependentfiles"]);
/** Directives that name other sections whose lines belong to the install section. */
const sectionEntries = new Set(["needs", "datasection"]);

/** Collects the files that the install sections of one architecture copy or name. Reads each section once. */
export class SectionWalk {
  /** Copied source files, by name in lower case. */
  readonly copied = new Map<string, string>();
  /** Destinations of copied files, in lower case. */
  readonly #destinations = new Set<string>();
  /** Files that the spooler needs for the driver, by name in lower case. */
  readonly #named = new Map<string, string>();
  /** Names of the sections that Windows may process, in lower case. Some of them may not exist. */
  readonly sections = new Set<string>();
  /** Names in `CopyINF` lines. */
  readonly copyInf = new Set<string>();
  readonly #inf: InfDocument;
  readonly #architecture: Architecture;
  /** Names that were passed to `install`. */
  readonly #installed = new Set<string>();
  /** Sections named by `CopyFiles` that were read. */
  readonly #fileSections = new Set<string>();

  constructor(inf: InfDocument, architecture: Architecture) {
    this.#inf = inf;
    this.#architecture = architecture;
  }

  /** Names of files that the driver needs (`DataFile`, …) and that no section copies. */
  get onlyNamed(): string[] {
    const isCopied = (key: string) => this.copied.has(key) || this.#destinations.has(key);
    return [...this.#named].flatMap(([key, name]) => (isCopied(key) ? [] : [name]));
  }

  /**
   * Reads the sections that Windows may use for this architecture: the sections whose decoration names it, for any
   * Windows version. Without such sections, those decorated for all architectures (`.nt`), or else the undecorated one.
   */
  install(name: string): void {
    if (!addIfNew(this.#installed, name)) return;
    const variants = this.#inf.variants(name);
    const specific = variants.filter(({ decoration }) => architectureOf(decoration) === this.#architecture);
    const general = variants.filter(({ decoration }) => decoration === "nt" || decoration.startsWith("nt."));
    const best = specific.length > 0 ? specific : general;
    for (const section of best.length > 0 ? best.map((variant) => variant.section) : [name]) {
      this.#follow(section);
      for (const suffix of sectionSuffixes) this.#follow(section + suffix);
    }
  }

  /** Reads a section and the sections that it needs; a loop, because recursion could overflow the stack. */
  #follow(first: string): void {
    const pending = [first];
    for (let section = pending.pop(); section !== undefined; section = pending.pop()) {
      if (!addIfNew(this.sections, section)) continue;
      for (const line of this.#inf.section(section) ?? []) {
        for (const needed of this.#readLine(line)) pending.push(needed);
      }
    }
  }

  /** Records the files and INFs that a line copies or names. Returns the sections that it needs. */
  #readLine(line: InfLine): string[] {
    const key = line.key?.toLowerCase() ?? "";
    const isRead =
      key === "copyfiles" || key === "copyinf" || fileEntries.has(key) || sectionEntries.has(key);
    if (!isRead) return [];
    const values = line.values.map((value) => this.#inf.resolve(value)).filter((value) => value !== "");
    if (sectionEntries.has(key)) return values;
    for (const value of values) {
      if (key === "copyfiles") this.#copy(value);
      else if (key === "copyinf") this.copyInf.add(value);
      else addName(this.#named, value);
    }
    return [];
  }

  /** @param value of `CopyFiles`: `@name` for one file, otherwise a section with one file per line */
  #copy(value: string): void {
    if (value.startsWith("@")) {
      addName(this.copied, value.slice(1).trim());
      return;
    }
    if (!addIfNew(this.#fileSections, value)) return;
    for (const line of this.#inf.section(value) ?? []) {
      // A line is `destination,source`, or only `destination` if both names are the same. A line `name=` has no values.
      const [destination = "", source = ""] = line.values.slice(0, 2).map((part) => this.#inf.resolve(part));
      addName(this.copied, source || destination || (line.key ?? ""));
      this.#destinations.add(destination.toLowerCase());
    }
  }
}

function addName(names: Map<string, string>, name: string): void {
  if (name !== "") getOrAdd(names, name.toLowerCase(), () => name);
}

/** Adds a name in lower case. Returns whether it is new. */
function addIfNew(names: Set<string>, name: string): boolean {
  const key = name.toLowerCase();
  if (names.has(key)) return false;
  names.add(key);
  return true;
}
