import type { Architecture } from "../domain/drivers/driver.ts";
import type { InfDocument } from "./document.ts";
import type { InfLine } from "./lines.ts";
import { architectureOf } from "./models.ts";

/** Suffixes of the sections that belong to an install section. */
const sectionSuffixes = [".CoInstallers", ".HW", ".Interfaces", ".Services", ".Components", ".Software"];

/** Follows the install sections of one architecture, each once, and collects the files that they copy. */
export class SectionWalk {
  readonly #copied = new Map<string, string>();
  readonly copyInf = new Set<string>();
  readonly #inf: InfDocument;
  readonly #architecture: Architecture;
  readonly #installed = new Set<string>();
  readonly #followed = new Set<string>();
  readonly #copiedSections = new Set<string>();

  constructor(inf: InfDocument, architecture: Architecture) {
    this.#inf = inf;
    this.#architecture = architecture;
  }

  /** The sections that Windows may install, in lower case. */
  get sections(): Iterable<string> {
    return this.#followed;
  }

  /** Names of copied source files. */
  get copied(): Iterable<string> {
    return this.#copied.values();
  }

  /**
   * Follows the sections that Windows may use for this architecture: the sections decorated with it, for any Windows
   * version; else the sections decorated for all architectures; else the undecorated one.
   */
  install(name: string): void {
    const key = name.toLowerCase();
    if (this.#installed.has(key)) return;
    this.#installed.add(key);
    const variants = this.#inf.variants(name);
    const forMachine = variants.filter(
      (variant) => architectureOf(variant.decoration) === this.#architecture,
    );
    const forAll = variants.filter(({ decoration }) => decoration === "nt" || decoration.startsWith("nt."));
    const best = [forMachine, forAll]
      .find((found) => found.length > 0)
      ?.map((variant) => variant.section) ?? [name];
    for (const section of best) {
      this.#follow(section);
      for (const part of sectionSuffixes) this.#follow(section + part);
    }
  }

  /** Follows a section and those that it needs. It does not recurse, because the INF decides the depth. */
  #follow(first: string): void {
    const pending = [first];
    for (let section = pending.pop(); section !== undefined; section = pending.pop()) {
      if (!isNew(this.#followed, section)) continue;
      for (const line of this.#inf.section(section) ?? []) {
        for (const needed of this.#readLine(line)) pending.push(needed);
      }
    }
  }

  /** Records the files and INFs that a line copies. Returns the sections that it needs. */
  #readLine(line: InfLine): string[] {
    const key = line.key?.toLowerCase();
    if (key !== "copyfiles" && key !== "copyinf" && key !== "needs") return [];
    const values = line.values.map((value) => this.#inf.resolve(value)).filter((value) => value !== "");
    if (key === "needs") return values;
    for (const value of values) {
      if (key === "copyfiles") this.#copy(value);
      else this.copyInf.add(value);
    }
    return [];
  }

  #copy(value: string): void {
    if (value.startsWith("@")) {
      this.#add(value.slice(1).trim());
      return;
    }
    if (!isNew(this.#copiedSections, value)) return;
    for (const line of this.#inf.section(value) ?? []) {
      const [destination = "", source = ""] = line.values.slice(0, 2).map((part) => this.#inf.resolve(part));
      this.#add(source || destination || (line.key ?? ""));
    }
  }

  #add(name: string): void {
    const key = name.toLowerCase();
    if (name !== "" && !this.#copied.has(key)) this.#copied.set(key, name);
  }
}

/** Adds a name without regard to case. Returns whether it is new. */
function isNew(names: Set<string>, name: string): boolean {
  const key = name.toLowerCase();
  if (names.has(key)) return false;
  names.add(key);
  return true;
}
