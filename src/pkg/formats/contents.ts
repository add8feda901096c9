import { createHash } from "node:crypto";
import type { UserError } from "../../domain/errors.ts";
import type { ScriptSettings } from "../scripts/deployment.ts";
import { frameOf, packagedScripts, type ScriptFrame, settingsOf } from "../scripts/render.ts";
import type { ArchiveEntry } from "../zip/archive.ts";
import type { Layout, LayoutPart } from "../zip/layout.ts";
import {
  type SharedSuffix,
  sharedSuffix,
  type ZipFile,
  type ZipPrefix,
  zipCopied,
  zipLayout,
  zipMade,
  zipPrefix,
} from "../zip/zip.ts";

/** A file on disk that a package takes bytes from. */
export interface SourceFile {
  readonly path: string;
  /** SHA-256 of the whole file, in hex. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** Of the file that was found to be sound, as the store names it; undefined where any of this size is. */
  readonly version: string | undefined;
  /** What a person is told when the file is not there, or not what it was. */
  readonly refusal: (problem: "missing" | "damaged") => UserError;
}

/** A driver's archive, and where its files go: nothing but data, so that it can cross threads. */
export interface DriverFolder {
  /** Of the archive. */
  readonly sha256: string;
  /** With `/`; empty: nowhere but the root. */
  readonly folder: string;
  /** An INF: only what it uses goes there, with all that the INFs use that it brings along. Undefined: every file. */
  readonly onlyUsedBy: string | undefined;
}

export interface DriverFiles extends SourceFile, DriverFolder {}

/** A picture as it crosses threads. */
interface IconData {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  readonly crc32: number;
}

export interface IconFile extends SourceFile, IconData {}

/** What goes into a ZIP. */
export interface Contents {
  /** Every driver once. */
  readonly drivers: readonly DriverFiles[];
  /** The settings of the three scripts, as JSON; undefined: no scripts. */
  readonly settings: string | undefined;
  /** The printer's picture, if there is one and the format carries it. */
  readonly icon: IconFile | undefined;
}

/** What stands behind the drivers' files. */
export interface PackageTail {
  readonly settings: string | undefined;
  readonly icon: IconData | undefined;
}

/** A layout with a SHA-256 that two share only when their bytes are the same. */
export interface Described {
  readonly layout: Layout;
  readonly digest: Uint8Array;
}

/** The files of drivers, with which a ZIP begins: the same for every printer that has these drivers. */
export interface LaidOutDrivers {
  readonly prefix: ZipPrefix;
  /** A SHA-256 that two share only when their bytes are the same. */
  readonly digest: Uint8Array;
  /** How many sources they take their bytes from. */
  readonly sourceCount: number;
}

/** What is laid out, with the files it takes its bytes from in the order of their numbers. */
export interface LaidOutFile extends Described {
  readonly sources: readonly SourceFile[];
}

/** A ZIP that is laid out. */
export interface LaidOutZip extends LaidOutFile {
  readonly drivers: LaidOutDrivers;
}

export function driverFolders({ drivers }: Pick<Contents, "drivers">): DriverFolder[] {
  return drivers.map(({ sha256, folder, onlyUsedBy }) => ({ sha256, folder, onlyUsedBy }));
}

export function packageTail({ settings, icon }: Contents): PackageTail {
  return { settings, icon: icon && { sha256: icon.sha256, size: icon.size, crc32: icon.crc32 } };
}

/** The drivers' archives first, then the icon. */
export function sourcesOf({ drivers, icon }: Contents): SourceFile[] {
  return icon === undefined ? [...drivers] : [...drivers, icon];
}

/** Names drivers in their folders: the same key, the same bytes. */
export function driversKey(drivers: readonly DriverFolder[]): string {
  const all = drivers.map(({ sha256, folder, onlyUsedBy }) => [sha256, folder, onlyUsedBy ?? null]);
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

/** Names contents: the same key, the same ZIP. */
export function contentsKey(drivers: readonly DriverFolder[], { settings, icon }: PackageTail): string {
  const short = [driversKey(drivers), settings === undefined, icon ?? null];
  return createHash("sha256")
    .update(JSON.stringify(short))
    .update(settings ?? "")
    .digest("hex");
}

/**
 * The drivers' files in their folders. Blocks: call it in a worker thread.
 * @param entries of each driver's archive that go there, in the drivers' order
 * @throws UserError "invalid" for more files or bytes than a ZIP can hold
 */
export function layOutDrivers(
  drivers: readonly DriverFolder[],
  entries: readonly (readonly ArchiveEntry[])[],
): LaidOutDrivers {
  const files: ZipFile[] = [];
  for (const [source, { folder }] of drivers.entries()) {
    const folderPath = folder === "" ? "" : `${folder}/`;
    for (const entry of entries[source] ?? []) files.push(zipCopied(folderPath + entry.path, entry, source));
  }
  const prefix = zipPrefix(files);
  const digests = drivers.map(({ sha256 }) => sha256);
  return { prefix, digest: digestOf(prefix.files.parts, digests), sourceCount: drivers.length };
}

/**
 * A whole ZIP: the drivers' files, behind them the three scripts and the icon, which differ from printer to
 * printer. Blocks for some milliseconds.
 * @throws UserError "invalid" for more files or bytes than a ZIP can hold
 */
export function layOut(drivers: LaidOutDrivers, { settings, icon }: PackageTail): Described {
  const files: ZipFile[] = settings === undefined ? [] : scriptFiles(JSON.parse(settings) as ScriptSettings);
  if (icon !== undefined) {
    const data = { source: drivers.sourceCount, offset: 0, length: icon.size, method: 0 as const };
    files.push({ name: "icon.png", crc32: icon.crc32, size: icon.size, data });
  }
  const layout = zipLayout(files, drivers.prefix);
  const shared = new Set([...drivers.prefix.files.parts, ...drivers.prefix.directory.parts]);
  const own = layout.parts.filter((part) => !shared.has(part));
  const ownDigest = digestOf(own, icon === undefined ? [] : [icon.sha256]);
  const digest = createHash("sha256").update(drivers.digest).update(ownDigest).digest();
  return { layout, digest: new Uint8Array(digest) };
}

function scriptFiles(settings: ScriptSettings): ZipFile[] {
  return packagedScripts.map((kind) => {
    const frame = frameOf(kind, settings);
    const own = Buffer.concat([frame.before, settingsOf(kind, settings)]);
    return zipMade(`${kind}.ps1`, own, scriptSuffix(frame));
  });
}

const scriptSuffixes = new WeakMap<ScriptFrame, SharedSuffix>();

/** What printers' scripts have in common is most of them, and is deflated once: some 15 ms each. */
function scriptSuffix(frame: ScriptFrame): SharedSuffix {
  const known = scriptSuffixes.get(frame);
  if (known !== undefined) return known;
  const end = sharedSuffix(frame.after);
  scriptSuffixes.set(frame, end);
  return end;
}

/** What most printers need: a driver's package, a port and a queue. */
const plainPrinter: ScriptSettings = { Drivers: [{ Origin: "package" }], Printers: [{ HasQueue: true }] };

/** Does in advance what the first package of such a printer would have to wait for: some 50 ms. */
export function prepareScripts(): void {
  for (const kind of packagedScripts) scriptSuffix(frameOf(kind, plainPrinter));
}

/** The literal bytes, where the others come from, and what those are: together they are the file. */
function digestOf(parts: readonly LayoutPart[], sources: readonly string[]): Uint8Array {
  const hash = createHash("sha256");
  for (const { literals, table } of parts) {
    const bytes = Buffer.from(table.buffer, table.byteOffset, table.byteLength);
    hash.update(`${literals.length} ${bytes.length} `).update(literals).update(bytes);
  }
  for (const sha256 of sources) hash.update(sha256);
  return new Uint8Array(hash.digest());
}
