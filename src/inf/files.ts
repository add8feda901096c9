import { getOrAdd } from "../domain/collections.ts";
import type { Architecture } from "../domain/drivers/driver.ts";
import { byCodeUnit } from "../domain/text.ts";
import type { InfDocument } from "./document.ts";
import { kindOf } from "./entries.ts";
import { SectionWalk } from "./install-sections.ts";
import { architectureOf, decorationsOf, type ReadModels, sortArchitectures } from "./models.ts";
import { compressedName, folderOf, joinPath, normalizePath, type PackageFiles } from "./package-files.ts";
import type { InfVersion } from "./printer-inf.ts";
import { readSideEffects, type SideEffects } from "./side-effects.ts";
import type { Work } from "./work-budget.ts";

export interface InfFiles {
  /** Architectures that the INF serves: by its models, or by `[DefaultInstall]` if it has none. */
  readonly architectures: readonly Architecture[];
  /** Paths inside the archive, including the INF itself, its catalogs and cabinets. */
  readonly used: ReadonlySet<string>;
  /** By architecture, the used files that its install sections copy, without cabinets. */
  readonly usedBy: ReadonlyMap<Architecture, ReadonlySet<string>>;
  /** Paths of the catalogs for its architectures; of all that it names if it serves none. */
  readonly catalogs: readonly string[];
  /** Needed files that the archive lacks, as paths relative to the INF's folder. */
  readonly missing: readonly string[];
  /** Architectures that need one of the missing files. */
  readonly missingFor: readonly Architecture[];
  /** Number of needed files found in compressed form (`name.dl_`). */
  readonly foundCompressed: number;
  /** Number of needed files found in cabinets. */
  readonly inCab: number;
  /** Names of the INFs that this one copies (CopyINF), with tokens replaced. */
  readonly copyInf: readonly string[];
  /** Side effects on any architecture. */
  readonly sideEffects: SideEffects;
}

/**
 * Follows the install sections of every architecture to the files that they copy.
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
  const search = new FileSearch(inf, version, folderOf(infPath), files, work);
  search.use(infPath);
  const architectures = models.architectures.length > 0 ? models.architectures : defaultArchitectures(inf);
  search.readCatalogs(version, architectures);
  const copyInf = new Set<string>();
  const sections = new Set<string>();
  for (const architecture of architectures) {
    const walk = new SectionWalk(inf, architecture);
    for (const section of models.installSections.get(architecture) ?? []) walk.install(section);
    walk.install("DefaultInstall");
    walk.install("ClassInstall32");
    search.needAll(walk.copied.values(), walk.onlyNamed, architecture);
    for (const name of walk.copyInf) copyInf.add(name);
    for (const section of walk.sections) sections.add(section);
    search.useListed(architecture);
  }
  for (const name of copyInf) search.useBeside(name);
  return {
    architectures,
    used: search.used,
    usedBy: search.usedBy,
    catalogs: [...search.catalogs],
    missing: [...search.missing],
    missingFor: architectures.filter((name) => search.missingFor.has(name)),
    foundCompressed: search.compressed.size,
    inCab: search.inCab.size,
    copyInf: [...copyInf],
    sideEffects: readSideEffects(inf, sections, work),
  };
}

function defaultArchitectures(inf: InfDocument): Architecture[] {
  const decorations = decorationsOf("defaultinstall", inf.sectionNames);
  const named = decorations.map(architectureOf).filter((architecture) => architecture !== undefined);
  return sortArchitectures(named.length > 0 || decorations.length === 0 ? named : ["x86"]);
}

/** Looks for files in the folders and cabinets that `[SourceDisksNames]` and `[SourceDisksFiles]` name. */
class FileSearch {
  readonly used = new Set<string>();
  readonly usedBy = new Map<Architecture, Set<string>>();
  readonly missing = new Set<string>();
  readonly missingFor = new Set<Architecture>();
  readonly catalogs = new Set<string>();
  readonly compressed = new Set<string>();
  readonly inCab = new Set<string>();
  readonly #inf: InfDocument;
  readonly #folder: string;
  readonly #files: PackageFiles;
  readonly #work: Work;
  readonly #disks = new Map<Architecture, SourceDisks>();
  readonly #isPrinter: boolean;
  /** If the INF has a LayoutFile, files that it does not list may come with Windows. */
  readonly #hasLayoutFile: boolean;

  constructor(inf: InfDocument, version: InfVersion, folder: string, files: PackageFiles, work: Work) {
    this.#inf = inf;
    this.#isPrinter = version.isPrinter;
    this.#folder = folder;
    this.#files = files;
    this.#work = work;
    this.#hasLayoutFile = inf.value("Version", "LayoutFile") !== undefined;
  }

  use(path: string, architecture?: Architecture): void {
    this.used.add(path);
    if (architecture !== undefined) getOrAdd(this.usedBy, architecture, () => new Set<string>()).add(path);
  }

  /**
   * Marks all catalogs that exist as used. One that is missing concerns only the architectures for which Windows reads
   * it, so a catalog for other architectures is not needed.
   */
  readCatalogs(version: InfVersion, architectures: readonly Architecture[]): void {
    for (const name of new Set(Object.values(version.catalogs))) {
      if (name === null) continue;
      const path = this.useBeside(name);
      const served = architectures.filter((architecture) => catalogFor(version, architecture) === name);
      if (served.length === 0 && architectures.length > 0) continue;
      if (path !== undefined) this.catalogs.add(path);
      else this.#miss(normalizePath(name), served);
    }
  }

  /** Marks a file in the INF's own folder as used. Returns its path. */
  useBeside(name: string): string | undefined {
    const path = this.#find(normalizePath(name));
    if (path !== undefined) this.use(path);
    return path;
  }

  /** Marks the files of `[SourceDisksFiles]` as used: they belong to the driver even if no section copies them. */
  useListed(architecture: Architecture): void {
    const disks = this.#disksOf(architecture);
    for (const [name, entry] of disks.listed) {
      const file = normalizePath(name);
      const found = disks.places(entry).filter((place) => this.#useFile(joinPath(place, file)));
      if (found.length > 0) continue;
      for (const path of disks.cabinets(entry)) if (this.#cabinetHas(path, name)) this.use(path);
    }
  }

  /**
   * Marks the files that the sections of an architecture copy as used or missing.
   * @param onlyNamed files that the driver needs and no section copies: without a LayoutFile, other INFs may bring them
   */
  needAll(copied: Iterable<string>, onlyNamed: readonly string[], architecture: Architecture): void {
    const missing: { readonly path: string; readonly key: string }[] = [];
    const need = (name: string, usedBy?: Architecture) => {
      const path = this.#need(name, architecture, usedBy);
      if (path !== undefined) missing.push({ path, key: path.toLowerCase() });
    };
    for (const name of copied) need(name, architecture);
    for (const name of onlyNamed) need(name);
    for (const { path } of missing.sort((a, b) => byCodeUnit(a.key, b.key))) this.#miss(path, [architecture]);
  }

  #miss(path: string, architectures: readonly Architecture[]): void {
    this.missing.add(path);
    for (const architecture of architectures) this.missingFor.add(architecture);
  }

  /**
   * Marks a file as used, or, if it is missing, returns the path where it should be. Windows looks for a file that is not
   * listed on the first disk, or else beside the INF.
   * @param copiedFor the architecture whose sections copy the file; undefined if none does
   */
  #need(name: string, architecture: Architecture, copiedFor?: Architecture): string | undefined {
    const disks = this.#disksOf(architecture);
    const entry = disks.listed.get(name.toLowerCase());
    const file = normalizePath(name);
    const places = disks.places(entry);
    const found = places.filter((place) => this.#useFile(joinPath(place, file), copiedFor));
    const isFound = this.#useCabinets(disks.cabinets(entry), name);
    if (found.length > 0 || isFound) return undefined;
    if (entry === undefined && this.#useFile(file, copiedFor)) return undefined;
    if (!this.#hasLayoutFile && copiedFor === undefined) return undefined;
    const mayBeOfWindows = this.#hasLayoutFile && entry === undefined;
    if (mayBeOfWindows && (!this.#isPrinter || comesWithWindows(file))) return undefined;
    return joinPath(places[0] ?? "", file);
  }

  /**
   * Marks a plain or compressed file as used. Returns whether it exists.
   * @param architecture the architecture that needs the file; undefined if no section copies it
   */
  #useFile(path: string, architecture?: Architecture): boolean {
    const plain = this.#find(path);
    const packed = plain === undefined ? this.#find(compressedName(path)) : undefined;
    if (packed !== undefined && architecture !== undefined) this.compressed.add(packed);
    const found = plain ?? packed;
    if (found !== undefined) this.use(found, architecture);
    return found !== undefined;
  }

  #useCabinets(cabinets: readonly string[], name: string): boolean {
    let isFound = false;
    for (const path of cabinets) {
      // A tag file identifies the disk and says nothing about its files.
      if (kindOf(path) !== "cabinet") this.use(path);
      if (!this.#cabinetHas(path, name)) continue;
      this.use(path);
      this.inCab.add(name.toLowerCase());
      isFound = true;
    }
    return isFound;
  }

  #cabinetHas(cabinet: string, name: string): boolean {
    this.#work.spend(1);
    return kindOf(cabinet) === "cabinet" && this.#files.cabinetContains(cabinet, name);
  }

  /** @param path relative to the INF's own folder */
  #find(path: string): string | undefined {
    this.#work.spendText(path);
    return this.#files.find(this.#folder + path);
  }

  #disksOf(architecture: Architecture): SourceDisks {
    const make = () => new SourceDisks(this.#inf, architecture, (path) => this.#find(path));
    return getOrAdd(this.#disks, architecture, make);
  }
}

/** The name of the catalog that Windows reads on an architecture. */
function catalogFor({ catalogs }: InfVersion, architecture: Architecture): string | null {
  return catalogs[`nt${architecture}`] ?? catalogs.nt ?? catalogs.default ?? null;
}

/** The values of a line in `[SourceDisksFiles]`: the file's disk and sub-folder. Tokens are not replaced. */
type ListedFile = readonly string[];

/** The values of a line in `[SourceDisksNames]`: description, cabinet or tag file, (unused), folder. */
type Disk = readonly string[];

/** Usual drivers have a handful. The limit bounds the memory that an INF with thousands of places takes. */
const maxCachedPlaces = 200;

/** Where the files for one architecture are, by `[SourceDisksNames]` and `[SourceDisksFiles]`. */
class SourceDisks {
  /** By file name in lower case. */
  readonly listed: ReadonlyMap<string, ListedFile>;
  readonly #inf: InfDocument;
  readonly #find: (path: string) => string | undefined;
  readonly #disks: ReadonlyMap<string, Disk>;
  readonly #places = new Map<string, readonly string[]>();
  readonly #cabinets = new Map<string, readonly string[]>();

  /** @param find maps a path relative to the INF's folder to a path in the archive */
  constructor(inf: InfDocument, architecture: Architecture, find: (path: string) => string | undefined) {
    this.#inf = inf;
    this.#find = find;
    this.#disks = readTable(inf, "SourceDisksNames", architecture, (id) => id);
    this.listed = readTable(inf, "SourceDisksFiles", architecture, (name) => inf.resolve(name));
  }

  /** The folders where a file may be, relative to the INF's folder: one for each language if they differ. */
  places(entry: ListedFile | undefined): readonly string[] {
    const id = diskOf(entry);
    const subfolder = entry?.[1] ?? "";
    const key = `${id}\0${subfolder}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const forms = this.#inf.resolveTogether(this.#disks.get(id)?.[3] ?? "", subfolder);
    const places = forms.map(([outer = "", inner = ""]) =>
      joinPath(normalizePath(outer), normalizePath(inner)),
    );
    if (this.#places.size >= maxCachedPlaces) this.#places.clear();
    this.#places.set(key, places);
    return places;
  }

  /** Paths of the cabinets that may contain a file, and of tag files: in the INF's own folder, or in the disk's folder. */
  cabinets(entry: ListedFile | undefined): readonly string[] {
    const id = diskOf(entry);
    const known = this.#cabinets.get(id);
    if (known !== undefined) return known;
    const [, tag = "", , folder = ""] = this.#disks.get(id) ?? [];
    const found = new Set<string>();
    for (const [name = "", place = ""] of this.#inf.resolveTogether(tag, folder)) {
      const cabinet = normalizePath(name);
      if (cabinet === "") continue;
      for (const path of [cabinet, joinPath(normalizePath(place), cabinet)]) {
        const foundPath = this.#find(path);
        if (foundPath !== undefined) found.add(foundPath);
      }
    }
    this.#cabinets.set(id, [...found]);
    return [...found];
  }
}

/** The id of a file's disk; `1` for a file that is not listed. */
function diskOf(entry: ListedFile | undefined): string {
  return (entry?.[0] ?? "1").toLowerCase();
}

/** Reads a section with values by key. Lines for the architecture override the general ones. @returns by key in lower case */
function readTable(
  inf: InfDocument,
  name: string,
  architecture: Architecture,
  keyOf: (key: string) => string,
): Map<string, readonly string[]> {
  const table = new Map<string, readonly string[]>();
  for (const section of [name, `${name}.${architecture}`]) {
    for (const { key, values } of inf.section(section) ?? []) {
      if (key !== undefined) table.set(keyOf(key).toLowerCase(), values);
    }
  }
  return table;
}

/**
 * Files that Windows brings for printer drivers, in lower case: those that `ntprint.inf` of Windows 10 and 11 lists, and
 * of earlier versions those for text printers, plotters, XPS and colours. The package of an INF with a LayoutFile need not
 * have them.
 */
const windowsFiles = new Set(
  `
  unidrv.dll unidrv.hlp unidrvui.dll unires.dll stdnames.gpd stddtype.gdl stdschem.gdl stdschmx.gdl
  pscript5.dll ps5ui.dll pscript.hlp pscript.ntf pscrptfe.ntf ps_schm.gdl
  pclxl.dll pclxl.gpd pcl4res.dll pcl5eres.dll pcl5ures.dll p6disp.gpd p6font.gpd pjl.gpd pjlmon.dll
  locale.gpd ttfsub.gpd msxpsinc.gpd msxpsinc.ppd mxdwdrv.dll mxdwdui.dll mxdwdui.gpd
  filterpipelineprintproc.dll printfilterpipelineprxy.dll xpssvcs.dll printconfig.dll winprint.dll
  tty.dll tty.gpd tty.ini ttyres.dll ttysub.gpd ttyui.dll ttyui.hlp
  plotter.dll plotter.hlp plotui.dll usbmon.dll usbprint.sys
  `
    .trim()
    .split(/\s+/),
).add("srgb color space profile.icm");

/** Whether Windows has a printer driver's file of this name. */
function comesWithWindows(name: string): boolean {
  return windowsFiles.has(name.toLowerCase());
}
