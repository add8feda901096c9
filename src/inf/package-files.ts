/** The files of a package, as an INF looks for them: as Windows compares names. */
export class PackageFiles {
  readonly #paths = new Map<string, string>();
  readonly #cabinets: ReadonlyMap<string, ReadonlySet<string>>;
  #sorted: readonly string[] | undefined;

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

  /** All paths as they stand in the archive, by code points. */
  get sorted(): readonly string[] {
    this.#sorted ??= [...this.#paths.values()].sort(byCodePoint);
    return this.#sorted;
  }
}

/** Orders text as its code points stand, not as some language sorts it. */
export function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** `name.dll` → `name.dl_`, `name.a` → `name.a_`, `name` → `name._`. */
export function compressedName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  if (dot < 0) return `${path}._`;
  const extension = name.slice(dot + 1);
  return extension.length < 3 ? `${path}_` : `${path.slice(0, -1)}_`;
}

/** Longer than any path that Windows opens without special measures, in characters: none of an archive has so many. */
const pathLimit = 260;

/** A path as INFs write it, with `/`, without empty parts, cut where it is longer than any path. */
export function normalizePath(path: string): string {
  const plain = path.trim();
  if (plain !== "." && !/[\\/]/.test(plain)) return plain.slice(0, pathLimit);
  const parts = path
    .slice(0, 2 * pathLimit)
    .replaceAll("\\", "/")
    .split("/")
    .map((part) => part.trim());
  return parts
    .filter((part) => part !== "" && part !== ".")
    .join("/")
    .slice(0, pathLimit);
}

/** Joins two normalized paths, of which any may be empty. */
export function joinPath(folder: string, name: string): string {
  return folder === "" || name === "" ? folder + name : `${folder}/${name}`;
}
