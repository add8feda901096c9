import { createHash } from "node:crypto";
import type { Archive } from "./archive.ts";
import type { Deployment } from "./deployment.ts";
import type { Layout } from "./layout.ts";
import { renderScript, scriptKinds } from "./scripts.ts";
import { type ZipFile, zipBytes, zipCopied, zipLayout } from "./zip.ts";

/** A file on disk that a package takes bytes from. */
export interface SourceFile {
  readonly path: string;
  /** SHA-256 of the whole file, in hex. */
  readonly sha256: string;
}

export interface DriverFiles extends SourceFile {
  /** The driver's id. */
  readonly id: number;
  readonly archive: Archive;
}

export interface IconFile extends SourceFile {
  readonly size: number;
  readonly crc32: number;
}

/** What goes into a package, whatever its format. */
export interface Contents {
  readonly deployment: Deployment;
  /** Every driver of the deployment, once. */
  readonly drivers: readonly DriverFiles[];
  /** The printer's picture, if it has one. */
  readonly icon: IconFile | undefined;
}

/** A ZIP that is laid out, with the files it takes its bytes from. */
export interface LaidOutZip {
  readonly layout: Layout;
  readonly sources: readonly SourceFile[];
  /** SHA-256 that two packages share only when their bytes are the same. */
  readonly digest: Buffer;
}

/** The three scripts, the drivers' files in their folders and, where it is asked for, the icon. */
export function layOut(contents: Contents, options: { readonly withIcon: boolean }): LaidOutZip {
  const { deployment, drivers } = contents;
  const icon = options.withIcon ? contents.icon : undefined;
  const sources: SourceFile[] = [...drivers];
  const files: ZipFile[] = scriptKinds.map((kind) => zipBytes(`${kind}.ps1`, renderScript(kind, deployment)));
  if (icon !== undefined) {
    const data = { source: sources.push(icon) - 1, offset: 0, length: icon.size, method: 0 as const };
    files.push({ name: "icon.png", crc32: icon.crc32, size: icon.size, data });
  }
  for (const [source, driver] of drivers.entries()) {
    const folder = deployment.folders.get(driver.id);
    if (folder === undefined) throw new Error(`driver ${driver.id} has no folder in its package`);
    for (const entry of driver.archive.entries)
      files.push(zipCopied(`${folder}/${entry.path}`, entry, source));
  }
  const layout = zipLayout(files);
  return { layout, sources, digest: digestOfLayout(layout, sources) };
}

/** The literal bytes, where the others come from, and what they are: together they are the file. */
function digestOfLayout(layout: Layout, sources: readonly SourceFile[]): Buffer {
  const table = Buffer.from(layout.table.buffer, layout.table.byteOffset, layout.table.byteLength);
  const hash = createHash("sha256").update(`${layout.literals.length} ${table.length} `);
  hash.update(layout.literals).update(table);
  for (const source of sources) hash.update(source.sha256);
  return hash.digest();
}
