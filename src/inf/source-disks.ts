import type { Architecture } from "../domain/drivers/driver.ts";
import type { InfDocument } from "./document.ts";
import { joinPath, normalizePath } from "./package-files.ts";

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
export class SourceDisks {
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
