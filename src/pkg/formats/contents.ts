import { createHash } from "node:crypto";
import type { UserError } from "../../domain/errors.ts";
import type { ScriptSettings } from "../scripts/deployment.ts";
import { scriptKinds, scriptOf } from "../scripts/render.ts";
import type { Archive } from "../zip/archive.ts";
import type { Layout } from "../zip/layout.ts";
import { type ZipFile, zipBytes, zipCopied, zipLayout } from "../zip/zip.ts";

/** A file on disk that a package takes bytes from. */
export interface SourceFile {
  readonly path: string;
  /** SHA-256 of the whole file, in hex. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** What a person is told when the file is not there, or not what it was. */
  readonly refusal: (problem: "missing" | "damaged") => UserError;
}

export interface DriverFiles extends SourceFile {
  /** Where its files go, with `/`; empty: nowhere but the root. */
  readonly folder: string;
}

export interface IconFile extends SourceFile {
  readonly crc32: number;
}

/** What goes into a ZIP. */
export interface Contents {
  /** The settings of the three scripts, as JSON; undefined: no scripts. */
  readonly settings: string | undefined;
  /** Every driver once. */
  readonly drivers: readonly DriverFiles[];
  /** The printer's picture, if there is one and the format carries it. */
  readonly icon: IconFile | undefined;
}

/** The same as it crosses to another thread: nothing but data. */
export interface ContentsData {
  readonly settings: string | undefined;
  readonly drivers: readonly Pick<DriverFiles, "sha256" | "folder">[];
  readonly icon: Pick<IconFile, "sha256" | "size" | "crc32"> | undefined;
}

/** A layout with a SHA-256 that two share only when their bytes are the same. */
export interface Described {
  readonly layout: Layout;
  readonly digest: Uint8Array;
}

/** A ZIP that is laid out, with the files it takes its bytes from in the order of their numbers. */
export interface LaidOutZip extends Described {
  readonly sources: readonly SourceFile[];
}

export function contentsData({ settings, drivers, icon }: Contents): ContentsData {
  return {
    settings,
    drivers: drivers.map(({ sha256, folder }) => ({ sha256, folder })),
    icon: icon && { sha256: icon.sha256, size: icon.size, crc32: icon.crc32 },
  };
}

/** The drivers' archives first, then the icon. */
export function sourcesOf({ drivers, icon }: Contents): SourceFile[] {
  return icon === undefined ? [...drivers] : [...drivers, icon];
}

/** Names contents: the same key, the same ZIP. */
export function contentsKey({ settings, drivers, icon }: ContentsData): string {
  const rest = drivers.map(({ sha256, folder }) => [sha256, folder]);
  const hash = createHash("sha256").update(JSON.stringify([settings === undefined, rest, icon ?? null]));
  return hash.update(settings ?? "").digest("hex");
}

/**
 * The three scripts, the icon, and the drivers' files in their folders. Blocks: call it in a worker thread.
 * @param archives of the drivers, in their order
 */
export function layOut({ settings, drivers, icon }: ContentsData, archives: readonly Archive[]): Described {
  const files: ZipFile[] = settings === undefined ? [] : scriptFiles(JSON.parse(settings) as ScriptSettings);
  if (icon !== undefined) {
    const data = { source: drivers.length, offset: 0, length: icon.size, method: 0 as const };
    files.push({ name: "icon.png", crc32: icon.crc32, size: icon.size, data });
  }
  for (const [source, { folder }] of drivers.entries()) {
    const prefix = folder === "" ? "" : `${folder}/`;
    for (const entry of archives[source]?.entries ?? [])
      files.push(zipCopied(prefix + entry.path, entry, source));
  }
  const layout = zipLayout(files);
  const digests = [...drivers, ...(icon === undefined ? [] : [icon])].map(({ sha256 }) => sha256);
  return { layout, digest: digestOfLayout(layout, digests) };
}

function scriptFiles(settings: ScriptSettings): ZipFile[] {
  return scriptKinds.map((kind) => zipBytes(`${kind}.ps1`, scriptOf(kind, settings)));
}

/** The literal bytes, where the others come from, and what they are: together they are the file. */
function digestOfLayout(layout: Layout, sources: readonly string[]): Uint8Array {
  const table = Buffer.from(layout.table.buffer, layout.table.byteOffset, layout.table.byteLength);
  const hash = createHash("sha256").update(`${layout.literals.length} ${table.length} `);
  hash.update(layout.literals).update(table);
  for (const sha256 of sources) hash.update(sha256);
  return new Uint8Array(hash.digest());
}
