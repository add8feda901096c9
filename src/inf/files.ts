import type { Architecture } from "../domain/drivers/driver.ts";
import type { InfDocument } from "./document.ts";
import { SectionWalk } from "./install-sections.ts";
import { architectureOf, type ReadModels, sortArchitectures } from "./models.ts";
import {
  byCodePoint,
  compressedName,
  folderOf,
  joinPath,
  normalizePath,
  type PackageFiles,
} from "./package-files.ts";
import type { InfVersion } from "./printer-inf.ts";
import { readSideEffects, type SideEffects } from "./side-effects.ts";
import type { Work } from "./work.ts";

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
  /** Architectures whose machines need one of them. */
  readonly missingFor: readonly Architecture[];
  /** Found under the name of their compressed form (`name.dl_`). */
  readonly foundCompressed: number;
  readonly inCab: number;
  /** INFs that this one brings along (CopyINF), as written. */
  readonly copyInf: readonly string[];
  /** What it does on machines of any architecture besides. */
  readonly sideEffects: SideEffects;
}

/**
 * Follows the install sections of every architecture to the files they copy.
 * @throws UserError "invalid" when the work for the archive is used up
 */
export function readFiles(
  inf: InfDocument,
  infPath: string,
  version: InfVersion,
  models: ReadModels,
  files: PackageFiles,
  work: Work,
): InfFiles {
  const search = new FileSearch(inf, folderOf(infPath), files, work);
  search.use(infPath);
  const catalogs = Object.values(version.catalogs).filter((catalog) => catalog !== null);
  for (const catalog of new Set(catalogs)) search.needBeside(catalog);
  const architectures = models.architectures.length > 0 ? models.architectures : defaultArchitectures(inf);
  const copyInf = new Set<string>();
  const sections = new Set<string>();
  for (const architecture of architectures) {
    const walk = new SectionWalk(inf, architecture);
    for (const section of models.installSections.get(architecture) ?? []) walk.install(section);
    walk.install("DefaultInstall");
    walk.install("ClassInstall32");
    search.needAll(walk.copied, architecture);
    for (const name of walk.copyInf) copyInf.add(name);
    for (const section of walk.sections) sections.add(section);
    search.useListed(architecture);
  }
  for (const name of copyInf) search.useBeside(name);
  const { missingFor, ...found } = search.result();
  const concerned = architectures.filter((name) => missingFor === "all" || missingFor.has(name));
  const sideEffects = readSideEffects(inf, sections, work);
  return { architectures, copyInf: [...copyInf], ...found, missingFor: concerned, sideEffects };
}

function defaultArchitectures(inf: InfDocument): Architecture[] {
  const decorations = inf.sectionNames
    .filter((name) => name === "defaultinstall" || name.startsWith("defaultinstall."))
    .map((name) => name.slice("defaultinstall.".length));
  const named = decorations.map(architectureOf).filter((architecture) => architecture !== undefined);
  return sortArchitectures(named.length > 0 || decorations.length === 0 ? named : ["x86"]);
}

/** Looks for files where `[SourceDisksNames]` and `[SourceDisksFiles]` say they are. */
class FileSearch {
  readonly #inf: InfDocument;
  readonly #folder: string;
  readonly #files: PackageFiles;
  readonly #work: Work;
  readonly #used = new Set<string>();
  readonly #usedBy = new Map<Architecture, Set<string>>();
  readonly #missing = new Set<string>();
  #missingFor: Set<Architecture> | "all" = new Set();
  readonly #compressed = new Set<string>();
  readonly #inCab = new Set<string>();
  readonly #disks = new Map<Architecture, SourceDisks>();
  readonly #windowsHasRest: boolean;

  constructor(inf: InfDocument, folder: string, files: PackageFiles, work: Work) {
    this.#inf = inf;
    this.#folder = folder;
    this.#files = files;
    this.#work = work;
    this.#windowsHasRest = inf.value("Version", "LayoutFile") !== undefined;
  }

  result(): Omit<InfFiles, "architectures" | "copyInf" | "missingFor" | "sideEffects"> & {
    readonly missingFor: ReadonlySet<Architecture> | "all";
  } {
    return {
      used: this.#used,
      usedBy: this.#usedBy,
      missing: [...this.#missing],
      missingFor: this.#missingFor,
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
    if (this.useBeside(name)) return;
    this.#missing.add(normalizePath(name));
    this.#missingFor = "all";
  }

  /** Whether the INF's own folder has the file. */
  useBeside(name: string): boolean {
    const path = this.#find(normalizePath(name));
    if (path !== undefined) this.use(path);
    return path !== undefined;
  }

  /** What `[SourceDisksFiles]` lists belongs to the driver, even where nothing copies it. */
  useListed(architecture: Architecture): void {
    const disks = this.#disksOf(architecture);
    for (const [name, entry] of disks.listed) {
      const file = normalizePath(name);
      const found = disks.places(entry).filter((place) => this.#useEither(joinPath(place, file)));
      if (found.length > 0) continue;
      for (const path of disks.cabinets(entry)) if (this.#holds(path, name)) this.use(path);
    }
  }

  /** Whether the file is there as it is, or compressed. */
  #useEither(path: string): boolean {
    const found = this.#find(path) ?? this.#find(compressedName(path));
    if (found !== undefined) this.use(found);
    return found !== undefined;
  }

  needAll(names: Iterable<string>, architecture: Architecture): void {
    const missing: { readonly path: string; readonly key: string }[] = [];
    for (const name of names) {
      const path = this.#need(name, architecture);
      if (path !== undefined) missing.push({ path, key: path.toLowerCase() });
    }
    if (missing.length > 0 && this.#missingFor !== "all") this.#missingFor.add(architecture);
    for (const { path } of missing.sort((a, b) => byCodePoint(a.key, b.key))) this.#missing.add(path);
  }

  /** The path at which the file should be, when it is nowhere. */
  #need(name: string, architecture: Architecture): string | undefined {
    const disks = this.#disksOf(architecture);
    const entry = disks.listed.get(name.toLowerCase());
    if (entry === undefined && this.#windowsHasRest) return undefined;
    const file = normalizePath(name);
    const places = disks.places(entry);
    const found = places.filter((place) => this.#take(joinPath(place, file), architecture));
    const served = this.#takeCabinets(disks.cabinets(entry), name);
    return found.length > 0 || served ? undefined : joinPath(places[0] ?? "", file);
  }

  #take(path: string, architecture: Architecture): boolean {
    const plain = this.#find(path);
    const packed = plain === undefined ? this.#find(compressedName(path)) : undefined;
    if (packed !== undefined) this.#compressed.add(packed);
    const found = plain ?? packed;
    if (found !== undefined) this.use(found, architecture);
    return found !== undefined;
  }

  #takeCabinets(cabinets: readonly string[], name: string): boolean {
    let served = false;
    for (const path of cabinets) {
      if (!this.#holds(path, name)) continue;
      this.use(path);
      this.#inCab.add(name.toLowerCase());
      served = true;
    }
    return served;
  }

  #holds(cabinet: string, name: string): boolean {
    this.#work.spend(1);
    return this.#files.cabinetHolds(cabinet, name);
  }

  /** @param path from the INF's own folder */
  #find(path: string): string | undefined {
    this.#work.spendText(path);
    return this.#files.find(this.#folder + path);
  }

  #disksOf(architecture: Architecture): SourceDisks {
    const known = this.#disks.get(architecture);
    if (known !== undefined) return known;
    const disks = new SourceDisks(this.#inf, architecture, (path) => this.#find(path));
    this.#disks.set(architecture, disks);
    return disks;
  }
}

/** The values of a file's line in `[SourceDisksFiles]`: its disk, its sub-folder. Tokens are not replaced. */
type ListedFile = readonly string[];

interface Disk {
  /** Its cabinet, where it has one. */
  readonly tag: string;
  readonly folder: string;
}

/** A driver has a handful of places; one that has thousands must not keep them all. */
const placesKept = 200;

/** Where `[SourceDisksNames]` and `[SourceDisksFiles]` say that files are, for one architecture. */
class SourceDisks {
  /** By name in lower case. */
  readonly listed: ReadonlyMap<string, ListedFile>;
  readonly #inf: InfDocument;
  readonly #find: (path: string) => string | undefined;
  readonly #disks: ReadonlyMap<string, Disk>;
  readonly #places = new Map<string, readonly string[]>();
  readonly #cabinets = new Map<string, readonly string[]>();

  /** @param find answers the path in the archive of one from the INF's own folder */
  constructor(inf: InfDocument, architecture: Architecture, find: (path: string) => string | undefined) {
    this.#inf = inf;
    this.#find = find;
    this.#disks = readDisks(inf, architecture);
    this.listed = readListed(inf, architecture);
  }

  /** The folders where a file may be, from the INF's own folder: one for each language where they differ. */
  places(entry: ListedFile | undefined): readonly string[] {
    const id = diskOf(entry);
    const subfolder = entry?.[1] ?? "";
    const key = `${id}\0${subfolder}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const forms = this.#inf.resolveTogether(this.#disks.get(id)?.folder ?? "", subfolder);
    const places = forms.map(([outer = "", inner = ""]) =>
      joinPath(normalizePath(outer), normalizePath(inner)),
    );
    if (this.#places.size >= placesKept) this.#places.clear();
    this.#places.set(key, places);
    return places;
  }

  /** The cabinets of the archive that may hold a file: beside the INF, or in the disk's folder. */
  cabinets(entry: ListedFile | undefined): readonly string[] {
    const id = diskOf(entry);
    const known = this.#cabinets.get(id);
    if (known !== undefined) return known;
    const { tag, folder } = this.#disks.get(id) ?? { tag: "", folder: "" };
    const found = new Set<string>();
    for (const [name = "", place = ""] of this.#inf.resolveTogether(tag, folder)) {
      const cabinet = normalizePath(name);
      if (cabinet === "") continue;
      for (const path of [cabinet, joinPath(normalizePath(place), cabinet)]) {
        const there = this.#find(path);
        if (there !== undefined) found.add(there);
      }
    }
    this.#cabinets.set(id, [...found]);
    return [...found];
  }
}

/** The id of the disk that a listed file is on; the first disk's for one that is not listed. */
function diskOf(entry: ListedFile | undefined): string {
  return (entry?.[0] ?? "1").toLowerCase();
}

/** `[SourceDisksFiles]`, its entries for one architecture over the general ones. */
function readListed(inf: InfDocument, architecture: Architecture): Map<string, ListedFile> {
  const listed = new Map<string, ListedFile>();
  for (const section of ["SourceDisksFiles", `SourceDisksFiles.${architecture}`]) {
    for (const line of inf.section(section) ?? []) {
      if (line.key !== undefined) listed.set(inf.resolve(line.key).toLowerCase(), line.values);
    }
  }
  return listed;
}

/** `[SourceDisksNames]`: id = description, tag or cabinet, (unused), folder. */
function readDisks(inf: InfDocument, architecture: Architecture): Map<string, Disk> {
  const disks = new Map<string, Disk>();
  for (const section of ["SourceDisksNames", `SourceDisksNames.${architecture}`]) {
    for (const { key, values } of inf.section(section) ?? []) {
      if (key !== undefined) disks.set(key.toLowerCase(), { tag: values[1] ?? "", folder: values[3] ?? "" });
    }
  }
  return disks;
}
