import type { OpenFile } from "../../domain/byte-source.ts";
import type { Driver } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import type { DriverFiles, SourceFile } from "../../pkg/formats/contents.ts";
import type { Blobs } from "../../store/blobs.ts";
import type { FileSource } from "../../store/files.ts";

/** Says which of a driver's files packages contain. */
export function fileSelectionOf({ drop_unused, inf_path }: Driver): Pick<DriverFiles, "onlyUsedBy"> {
  return { onlyUsedBy: drop_unused && inf_path !== "" ? inf_path : undefined };
}

/**
 * Opens the files of a package: all or none. The caller closes them.
 * @throws UserError for the first file that is missing or changed
 */
export async function openSources(blobs: Blobs, sources: readonly SourceFile[]): Promise<FileSource[]> {
  const files: FileSource[] = [];
  try {
    for (const source of sources) files.push(await openSource(blobs, source));
    return files;
  } catch (error) {
    await closeSources(files);
    throw error;
  }
}

/** Opens files while `use` runs. @throws as `openSources` does, and what `use` throws */
export async function withSources<T>(
  blobs: Blobs,
  sources: readonly SourceFile[],
  use: (files: readonly OpenFile[]) => Promise<T>,
): Promise<T> {
  const files = await openSources(blobs, sources);
  try {
    return await use(descriptorsOf(files));
  } finally {
    await closeSources(files);
  }
}

/** The error for a file that was replaced or rewritten since it was checked. */
export function fileChanged(): UserError {
  const message = "A file of this package was changed a moment ago. Try again in a few seconds.";
  return new UserError("busy", message);
}

export async function closeSources(files: readonly FileSource[]): Promise<void> {
  await Promise.all(files.map((file) => file.close()));
}

/** The part of the files that can be sent to another thread. */
export function descriptorsOf(files: readonly FileSource[]): OpenFile[] {
  return files.map(({ descriptor, size }) => ({ descriptor, size }));
}

async function openSource(blobs: Blobs, source: SourceFile): Promise<FileSource> {
  const file = await blobs.open(source.path);
  if (file === undefined) throw source.refusal("missing");
  if (file.size === source.size && file.version === source.version) return file;
  await file.close();
  throw file.size === source.size ? fileChanged() : source.refusal("damaged");
}
