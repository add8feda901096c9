import type { Architecture } from "../domain/driver.ts";
import type { InfDocument, InfLine } from "./document.ts";
import {
  architectureOf,
  byCodePoint,
  type InfModels,
  type InfVersion,
  sortArchitectures,
} from "./printer-inf.ts";

/** The files of a package, as an INF looks for them: without regard to case. */
export class PackageFiles {
  readonly #paths = new Map<string, string>();
  readonly #cabinets: ReadonlyMap<string, ReadonlySet<string>>;

  /**
   * @param paths inside the archive, with `/`
   * @param cabinets what the cabinets hold, by their paths; those that cannot be read are left out
   */
  constructor(paths: Iterable<string>, cabinets: ReadonlyMap<string, readonly string[]> = new Map()) {
    for (const path of paths) this.#paths.set(path.toLowerCase(), path);
    const plain = (names: readonly string[]) =>
      names.map((name) => name.slice(name.lastIndexOf("\\") + 1).toLowerCase());
    this.#cabinets = new Map(
      [...cabinets].map(([path, names]) => [path.toLowerCase(), new Set(plain(names))]),
    );
  }

  /** The path as it stands in the archive; undefined when no such file is there. */
  find(path: string): string | undefined {
    return this.#paths.get(path.toLowerCase());
  }

  /** Whether a cabinet of the package holds a file of that name; one that cannot be read is trusted to. */
  cabinetHolds(cabinet: string, name: string): boolean {
    return this.#cabinets.get(cabinet.toLowerCase())?.has(name.toLowerCase()) ?? true;
  }

  get all(): string[] {
    return [...this.#paths.values()];
  }
}

/** Which files an INF needs, and where they are. */
export interface InfFiles {
  /** That the INF serves: by its models, or by `[DefaultInstall]` where it has none. */
  readonly architectures: readonly Architecture[];
  /** Paths inside the archive, among them the INF itself, its catalogs and cabinets. */
  readonly used: ReadonlySet<string>;
  /** Used files that machines of one architecture load. */
  readonly usedBy: ReadonlyMap<Architecture, ReadonlySet<string>>;
  /** Needed and not there, as paths from the INF's folder. */
  readonly missing: readonly string[];
  /** Found under the name of their compressed form (`name.dl_`). */
  readonly foundCompressed: number;
  readonly inCab: number;
  /** INFs that this one brings along (CopyINF), as written. */
  readonly copyInf: readonly string[];
}

/** Follows the install sections of every architecture to the files they copy. */
export function readFiles(
  inf: InfDocument,
  infPath: string,
  version: InfVersion,
  models: InfModels,
  files: PackageFiles,
): InfFiles {
  const search = new FileSearch(inf, folderOf(infPath), files);
  search.use(infPath);
  for (const catalog of new Set(Object.values(version.catalogs)))
    if (catalog !== null) search.needBeside(catalog);
  const architectures = models.architectures.length > 0 ? models.architectures : defaultArchitectures(inf);
  const copyInf = new Set<string>();
  for (const architecture of architectures) {
    const walk = new SectionWalk(inf, architecture);
    for (const line of models.lines) {
      if (line.architecture === architecture) walk.install(line.installSection);
    }
    walk.install("DefaultInstall");
    walk.install("ClassInstall32");
    search.needAll(walk.copied, architecture);
    for (const name of walk.copyInf) copyInf.add(name);
    search.useListed(architecture);
  }
  for (const name of copyInf) search.useBeside(name);
  return { architectures, copyInf: [...copyInf], ...search.result() };
}

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

function defaultArchitectures(inf: InfDocument): Architecture[] {
  const decorations = inf.sectionNames
    .filter((name) => name === "defaultinstall" || name.startsWith("defaultinstall."))
    .map((name) => name.slice("defaultinstall.".length));
  const named = decorations.map(architectureOf).filter((architecture) => architecture !== undefined);
  return sortArchitectures(named.length > 0 || decorations.length === 0 ? named : ["x86"]);
}

/** Walks install sections of one architecture and collects what they copy; each section once. */
class SectionWalk {
  readonly #copied = new Map<string, string>();
  readonly copyInf = new Set<string>();
  readonly #inf: InfDocument;
  readonly #architecture: Architecture;
  readonly #seen = new Set<string>();

  constructor(inf: InfDocument, architecture: Architecture) {
    this.#inf = inf;
    this.#architecture = architecture;
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
    const variants = this.#inf.variants(name);
    const forMachine = variants.filter(
      (variant) => architectureOf(variant.decoration) === this.#architecture,
    );
    const forAll = variants.filter((variant) => /^nt(\.|$)/.test(variant.decoration));
    const best = [forMachine, forAll]
      .find((found) => found.length > 0)
      ?.map((variant) => variant.section) ?? [name];
    for (const section of best) {
      this.#follow(section);
      for (const part of [".CoInstallers", ".HW", ".Interfaces", ".Services"]) this.#follow(section + part);
    }
  }

  /** The section, and all that it needs in turn; without recursion, because the text decides how deep it is. */
  #follow(first: string): void {
    const waiting = [first];
    for (let section = waiting.pop(); section !== undefined; section = waiting.pop()) {
      const key = section.toLowerCase();
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
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
    const key = `copy ${value.toLowerCase()}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    for (const line of this.#inf.section(value) ?? []) {
      const [destination = "", source = ""] = line.values.map((part) => this.#inf.resolve(part));
      this.#add(source || destination || (line.key ?? ""));
    }
  }

  #add(name: string): void {
    const key = name.toLowerCase();
    if (name !== "" && !this.#copied.has(key)) this.#copied.set(key, name);
  }
}

interface Disk {
  /** Cabinets that may hold the disk's files, one for each language. */
  readonly cabinets: readonly string[];
  /** Its folders, one for each language. */
  readonly folders: readonly string[];
}

/** Looks for files where `[SourceDisksNames]` and `[SourceDisksFiles]` say they are. */
class FileSearch {
  readonly #inf: InfDocument;
  readonly #folder: string;
  readonly #files: PackageFiles;
  readonly #used = new Set<string>();
  readonly #usedBy = new Map<Architecture, Set<string>>();
  readonly #missing = new Set<string>();
  readonly #compressed = new Set<string>();
  readonly #inCab = new Set<string>();
  readonly #disks = new Map<Architecture, ReadonlyMap<string, Disk>>();
  readonly #listed = new Map<Architecture, ReadonlyMap<string, readonly string[]>>();
  readonly #windowsHasRest: boolean;

  constructor(inf: InfDocument, folder: string, files: PackageFiles) {
    this.#inf = inf;
    this.#folder = folder;
    this.#files = files;
    this.#windowsHasRest = inf.value("Version", "LayoutFile") !== undefined;
  }

  result(): Omit<InfFiles, "architectures" | "copyInf"> {
    return {
      used: this.#used,
      usedBy: this.#usedBy,
      missing: [...this.#missing],
      foundCompressed: this.#compressed.size,
      inCab: this.#inCab.size,
    };
  }

  use(path: string, architecture?: Architecture): void {
    this.#used.add(path);
    if (architecture === undefined) return;
    const paths = this.#usedBy.get(architecture) ?? new Set();
    this.#usedBy.set(architecture, paths.add(path));
  }

  /** A file that stands in the INF's own folder. */
  needBeside(name: string): void {
    if (!this.useBeside(name)) this.#missing.add(normalizePath(name));
  }

  /** Whether the INF's own folder has the file. */
  useBeside(name: string): boolean {
    const path = this.#files.find(this.#folder + normalizePath(name));
    if (path !== undefined) this.use(path);
    return path !== undefined;
  }

  /** What `[SourceDisksFiles]` lists belongs to the driver, even where nothing copies it. */
  useListed(architecture: Architecture): void {
    for (const [name, entry] of this.#listedFiles(architecture)) {
      for (const place of this.#places(entry, architecture)) {
        const path = this.#folder + joinPath(place, name);
        const found = this.#files.find(path) ?? this.#files.find(compressedName(path));
        if (found !== undefined) this.use(found);
      }
    }
  }

  needAll(names: Iterable<string>, architecture: Architecture): void {
    const missing = [...names]
      .map((name) => this.#need(name, architecture))
      .filter((path) => path !== undefined);
    for (const path of missing.sort((a, b) => byCodePoint(a.toLowerCase(), b.toLowerCase())))
      this.#missing.add(path);
  }

  /** The path at which the file should be, when it is nowhere. */
  #need(name: string, architecture: Architecture): string | undefined {
    const entry = this.#listedFiles(architecture).get(name.toLowerCase());
    if (entry === undefined && this.#windowsHasRest) return undefined;
    const places = this.#places(entry, architecture);
    const disk = this.#disk(entry, architecture);
    const found = places.filter((place) => this.#take(joinPath(place, name), architecture));
    const served = this.#takeCabinets(disk?.cabinets ?? [], name);
    return found.length > 0 || served ? undefined : joinPath(places[0] ?? "", name);
  }

  #disk(entry: readonly string[] | undefined, architecture: Architecture): Disk | undefined {
    return this.#disksOf(architecture).get((entry?.[0] ?? "1").toLowerCase());
  }

  /** The folders where a listed file may be, from the INF's own folder. */
  #places(entry: readonly string[] | undefined, architecture: Architecture): string[] {
    const folders = this.#disk(entry, architecture)?.folders ?? [""];
    const subfolders = this.#inf.resolveAll(entry?.[1] ?? "");
    return folders.flatMap((folder) => subfolders.map((subfolder) => joinPath(folder, subfolder)));
  }

  #take(path: string, architecture: Architecture): boolean {
    const plain = this.#files.find(this.#folder + path);
    const packed = plain === undefined ? this.#files.find(this.#folder + compressedName(path)) : undefined;
    if (packed !== undefined) this.#compressed.add(packed);
    const found = plain ?? packed;
    if (found !== undefined) this.use(found, architecture);
    return found !== undefined;
  }

  #takeCabinets(cabinets: readonly string[], name: string): boolean {
    let served = false;
    for (const cabinet of cabinets) {
      const path = this.#files.find(this.#folder + cabinet);
      if (path === undefined || !this.#files.cabinetHolds(path, name)) continue;
      this.use(path);
      this.#inCab.add(name.toLowerCase());
      served = true;
    }
    return served;
  }

  /** `[SourceDisksFiles]`, its entries for one architecture over the general ones. */
  #listedFiles(architecture: Architecture): ReadonlyMap<string, readonly string[]> {
    const known = this.#listed.get(architecture);
    if (known !== undefined) return known;
    const listed = new Map<string, readonly string[]>();
    for (const section of ["SourceDisksFiles", `SourceDisksFiles.${architecture}`]) {
      for (const line of this.#inf.section(section) ?? []) {
        if (line.key !== undefined) listed.set(this.#inf.resolve(line.key).toLowerCase(), line.values);
      }
    }
    this.#listed.set(architecture, listed);
    return listed;
  }

  /** `[SourceDisksNames]`: id = description, tag or cabinet, (unused), folder. */
  #disksOf(architecture: Architecture): ReadonlyMap<string, Disk> {
    const known = this.#disks.get(architecture);
    if (known !== undefined) return known;
    const disks = new Map<string, Disk>();
    for (const section of ["SourceDisksNames", `SourceDisksNames.${architecture}`]) {
      for (const line of this.#inf.section(section) ?? []) {
        if (line.key === undefined) continue;
        const folders = this.#inf.resolveAll(line.values[3] ?? "").map(normalizePath);
        const tags = this.#inf
          .resolveAll(line.values[1] ?? "")
          .map(normalizePath)
          .filter((tag) => tag !== "");
        const beside = tags.flatMap((tag) => folders.map((folder) => joinPath(folder, tag)));
        disks.set(line.key.toLowerCase(), { folders, cabinets: [...new Set([...tags, ...beside])] });
      }
    }
    this.#disks.set(architecture, disks);
    return disks;
  }
}

/** `name.dll` → `name.dl_`, `name.a` → `name.a_`, `name` → `name._`. */
export function compressedName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  if (dot < 0) return `${path}._`;
  const extension = name.slice(dot + 1);
  return extension.length < 3 ? `${path}_` : `${path.slice(0, -1)}_`;
}

function normalizePath(path: string): string {
  const parts = path.split(/[\\/]+/).map((part) => part.trim());
  return parts.filter((part) => part !== "" && part !== ".").join("/");
}

function joinPath(folder: string, name: string): string {
  return normalizePath(`${folder}/${name}`);
}
