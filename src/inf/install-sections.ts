import type { Architecture } from "../domain/drivers/driver.ts";
import type { InfDocument } from "./document.ts";
import type { InfLine } from "./lines.ts";
import { architectureOf } from "./models.ts";

/** What stands behind an install section's name in the names of those that belong to it. */
const parts = [".CoInstallers", ".HW", ".Interfaces", ".Services", ".Components", ".Software"];

/** Walks install sections of one architecture and collects what they copy; each section once. */
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

  /** Names of source files. */
  get copied(): Iterable<string> {
    return this.#copied.values();
  }

  /**
   * Follows the sections that Windows may take for this architecture: those decorated with it, whatever
   * the Windows version they ask for; without any, those decorated for every NT; else the plain one.
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
      for (const part of parts) this.#follow(section + part);
    }
  }

  /** The section, and all that it needs in turn; without recursion, because the text decides how deep it is. */
  #follow(first: string): void {
    const waiting = [first];
    for (let section = waiting.pop(); section !== undefined; section = waiting.pop()) {
      if (!isNew(this.#followed, section)) continue;
      for (const line of this.#inf.section(section) ?? []) {
        for (const needed of this.#take(line)) waiting.push(needed);
      }
    }
  }

  /** What one line of an install section copies; answers the sections that it needs. */
  #take(line: InfLine): string[] {
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

/** Whether the name, without regard to case, was not among these; it is afterwards. */
function isNew(names: Set<string>, name: string): boolean {
  const key = name.toLowerCase();
  if (names.has(key)) return false;
  names.add(key);
  return true;
}
