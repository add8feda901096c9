import { createHash } from "node:crypto";
import type { UserError } from "../../domain/errors.ts";
import type { ScriptSettings } from "../scripts/deployment.ts";
import { packagedScripts, type ScriptTemplate, settingsBlock, templateOf } from "../scripts/render.ts";
import type { Signatures } from "../scripts/signatures.ts";
import type { ArchiveEntry } from "../zip/archive.ts";
import type { Layout, LayoutPart } from "../zip/layout.ts";
import {
  copiedFile,
  generatedFile,
  type SharedSuffix,
  sharedSuffix,
  type ZipFile,
  type ZipPrefix,
  zipLayout,
  zipPrefix,
} from "../zip/zip.ts";

export interface SourceFile {
  readonly path: string;
  /** SHA-256 of the whole file, in hex. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** The `FileSource.version` of the checked file. */
  readonly version: string;
  /** The error for a user if the file is missing or has changed. */
  readonly refusal: (problem: "missing" | "damaged") => UserError;
}

/** A driver's archive and the folder for its files. It is plain data, so it can be sent to another thread. */
export interface DriverFolder {
  /** Digest of the archive. */
  readonly sha256: string;
  /** With `/`; empty for the root. */
  readonly folder: string;
  /** An INF's path: the folder gets only files that this INF or those in its CopyINF use. Undefined: all files. */
  readonly onlyUsedBy: string | undefined;
}

export interface DriverFiles extends SourceFile, DriverFolder {}

/** A file that is copied into the ZIP as it is. */
interface ExtraData {
  /** Its path in the ZIP, with `/`. */
  readonly name: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  readonly crc32: number;
}

export interface ExtraFile extends SourceFile, ExtraData {}

export interface Contents {
  /** Each driver once. */
  readonly drivers: readonly DriverFiles[];
  /** The settings of the three scripts, as JSON. Undefined: no scripts. */
  readonly settings: string | undefined;
  /** The signatures of the scripts that are signed. */
  readonly signatures?: Signatures;
  /** The printer's icon, if it has one and the format includes icons. */
  readonly icon: ExtraFile | undefined;
  /** Vendor preferences of its printers. */
  readonly preferences?: readonly ExtraFile[];
}

/** The contents after the drivers' files. They differ between printers. */
export interface OwnContents {
  readonly settings: string | undefined;
  readonly signatures: Signatures;
  readonly extras: readonly ExtraData[];
}

/** A layout with a SHA-256 of its content. Two layouts with the same digest have the same bytes. */
export interface DigestedLayout {
  readonly layout: Layout;
  readonly digest: Uint8Array;
}

/** The drivers' files at the beginning of a ZIP. They are the same for every printer that has these drivers. */
export interface LaidOutDrivers {
  readonly prefix: ZipPrefix;
  /** SHA-256. The same digest means the same bytes. */
  readonly digest: Uint8Array;
  readonly sourceCount: number;
}

/** A layout with the files that it takes its bytes from, in the order of their source numbers. */
export interface LaidOutFile extends DigestedLayout {
  readonly sources: readonly SourceFile[];
}

export interface LaidOutZip extends LaidOutFile {
  readonly drivers: LaidOutDrivers;
}

export function driverFolders({ drivers }: Pick<Contents, "drivers">): DriverFolder[] {
  return drivers.map(({ sha256, folder, onlyUsedBy }) => ({ sha256, folder, onlyUsedBy }));
}

export function ownContents(contents: Contents): OwnContents {
  const extras = extrasOf(contents).map(({ name, sha256, size, crc32 }) => ({ name, sha256, size, crc32 }));
  return { settings: contents.settings, signatures: contents.signatures ?? {}, extras };
}

/** The drivers' archives first, then each different extra file once. */
export function sourcesOf(contents: Contents): SourceFile[] {
  const extras = new Map(extrasOf(contents).map((file) => [file.sha256, file]));
  return [...contents.drivers, ...extras.values()];
}

function extrasOf({ icon, preferences = [] }: Contents): ExtraFile[] {
  return icon === undefined ? [...preferences] : [icon, ...preferences];
}

/** A key for drivers in their folders. The same key means the same bytes. */
export function driversKey(drivers: readonly DriverFolder[]): string {
  const all = drivers.map(({ sha256, folder, onlyUsedBy }) => [sha256, folder, onlyUsedBy ?? null]);
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

/** A key for contents. The same key means the same ZIP. */
export function contentsKey(
  drivers: readonly DriverFolder[],
  { settings, signatures, extras }: OwnContents,
): string {
  const short = [driversKey(drivers), settings === undefined, signatures, extras];
  return createHash("sha256")
    .update(JSON.stringify(short))
    .update(settings ?? "")
    .digest("hex");
}

/**
 * Lays out the drivers' files in their folders. Blocks: call it in a worker thread.
 * @param entries the files of each driver's archive that go into its folder, in the order of the drivers
 * @throws UserError "invalid" for more files or bytes than a ZIP can contain
 */
export function layOutDrivers(
  drivers: readonly DriverFolder[],
  entries: readonly (readonly ArchiveEntry[])[],
): LaidOutDrivers {
  const files: ZipFile[] = [];
  for (const [source, { folder }] of drivers.entries()) {
    const folderPath = folder === "" ? "" : `${folder}/`;
    for (const entry of entries[source] ?? []) files.push(copiedFile(folderPath + entry.path, entry, source));
  }
  const prefix = zipPrefix(files);
  const digests = drivers.map(({ sha256 }) => sha256);
  return { prefix, digest: digestOf(prefix.files.parts, digests), sourceCount: drivers.length };
}

/**
 * Lays out a whole ZIP: the drivers' files, then the three scripts and the extra files. Blocks for some milliseconds.
 * @throws UserError "invalid" for more files or bytes than a ZIP can contain
 */
export function layOut(
  drivers: LaidOutDrivers,
  { settings, signatures, extras }: OwnContents,
): DigestedLayout {
  const files: ZipFile[] =
    settings === undefined ? [] : scriptFiles(JSON.parse(settings) as ScriptSettings, signatures);
  const digests = [...new Set(extras.map(({ sha256 }) => sha256))];
  for (const { name, sha256, size, crc32 } of extras) {
    const source = drivers.sourceCount + digests.indexOf(sha256);
    files.push({ name, crc32, size, data: { source, offset: 0, length: size, method: 0 } });
  }
  const layout = zipLayout(files, drivers.prefix);
  const shared = new Set([...drivers.prefix.files.parts, ...drivers.prefix.directory.parts]);
  const own = layout.parts.filter((part) => !shared.has(part));
  const ownDigest = digestOf(own, digests);
  const digest = createHash("sha256").update(drivers.digest).update(ownDigest).digest();
  return { layout, digest: new Uint8Array(digest) };
}

function scriptFiles(settings: ScriptSettings, signatures: Signatures): ZipFile[] {
  return packagedScripts.map((kind) => {
    const template = templateOf(kind, settings);
    const own = Buffer.concat([template.before, settingsBlock(kind, template, settings)]);
    const block = signatures[kind];
    if (block === undefined) return generatedFile(`${kind}.ps1`, own, scriptSuffix(template));
    const whole = Buffer.concat([own, template.after, Buffer.from(block, "latin1")]);
    return generatedFile(`${kind}.ps1`, whole, noSuffix);
  });
}

const noSuffix = sharedSuffix(new Uint8Array());

const scriptSuffixes = new WeakMap<ScriptTemplate, SharedSuffix>();

/** Scripts share most of their text, from the settings to the end. It is deflated only once for each template, in about 15 ms. */
function scriptSuffix(template: ScriptTemplate): SharedSuffix {
  const known = scriptSuffixes.get(template);
  if (known !== undefined) return known;
  const end = sharedSuffix(template.after);
  scriptSuffixes.set(template, end);
  return end;
}

/** A printer with the usual needs: a driver package, a port and a queue. */
const plainPrinter: ScriptSettings = { Drivers: [{ Origin: "package" }], Printers: [{ HasQueue: true }] };

/** Deflates the scripts of a usual printer in advance, which saves its first package about 50 ms. */
export function prepareScripts(): void {
  for (const kind of packagedScripts) scriptSuffix(templateOf(kind, plainPrinter));
}

/** Digests the literal bytes, the source ranges, and the digests of the sources. Together they determine the file. */
function digestOf(parts: readonly LayoutPart[], sources: readonly string[]): Uint8Array {
  const hash = createHash("sha256");
  for (const { literals, table } of parts) {
    const bytes = Buffer.from(table.buffer, table.byteOffset, table.byteLength);
    hash.update(`${literals.length} ${bytes.length} `).update(literals).update(bytes);
  }
  for (const sha256 of sources) hash.update(sha256);
  return new Uint8Array(hash.digest());
}
