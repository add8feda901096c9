import { byCodeUnit } from "../domain/text.ts";

/** The files of a package. Names are compared without regard to case, as in Windows. */
export class PackageFiles {
  readonly #paths = new Map<string, string>();
  readonly #cabinets: ReadonlyMap<string, ReadonlySet<string>>;
  #sorted: readonly string[] | undefined;

  /**
   * @param paths inside the archive, with `/`
   * @param cabinets by cabinet path, the names of its files; without cabinets that cannot be read
   */
  constructor(paths: Iterable<string>, cabinets: ReadonlyMap<string, readonly string[]> = new Map()) {
    for (const path of paths) this.#paths.set(path.toLowerCase(), path);
    const plain = (names: readonly string[]) =>
      names.map((name) => name.slice(name.lastIndexOf("\\") + 1).toLowerCase());
    this.#cabinets = new Map(
      [...cabinets].map(([path, names]) => [path.toLowerCase(), new Set(plain(names))]),
    );
  }

  /** The path as the archive spells it; undefined when there is no such file. */
  find(path: string): string | undefined {
    return this.#paths.get(path.toLowerCase());
  }

  /** Whether a cabinet contains a file of that name. Cabinets that cannot be read are assumed to contain it. */
  cabinetContains(cabinet: string, name: string): boolean {
    return this.#cabinets.get(cabinet.toLowerCase())?.has(name.toLowerCase()) ?? true;
  }

  /** All paths as the archive spells them, in the order of `byCodeUnit`. */
  get sorted(): readonly string[] {
    this.#sorted ??= [...this.#paths.values()].sort(byCodeUnit);
    return this.#sorted;
  }
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

/** In characters. Windows programs usually cannot open longer paths. */
const pathLimit = 260;

/** Normalizes a path from an INF: with `/`, without empty parts and `.`, cut at `pathLimit`. */
export function normalizePath(path: string): string {
  const plain = path.trim();
  if (plain !== "." && !/[\\/]/.test(plain)) return plain.slice(0, pathLimit);
  return path
    .slice(0, 2 * pathLimit)
    .split(/[\\/]/)
    .map((part) => part.trim())
    .filter((part) => part !== "" && part !== ".")
    .join("/")
    .slice(0, pathLimit);
}

/** Joins two normalized paths. Either may be empty. */
export function joinPath(folder: string, name: string): string {
  return folder === "" || name === "" ? folder + name : `${folder}/${name}`;
}
