import type { OpenFile } from "../domain/byte-source.ts";
import type { SourceFile } from "../pkg/formats/contents.ts";
import type { Blobs } from "../store/blobs.ts";
import type { FileSource } from "../store/files.ts";

/** Opens files that packages are made of: all of them, or none. @throws UserError of the file that is not as it was */
export async function openSources(blobs: Blobs, sources: readonly SourceFile[]): Promise<FileSource[]> {
  const files: FileSource[] = [];
  try {
    for (const source of sources) files.push(await openOne(blobs, source));
    return files;
  } catch (error) {
    await closeSources(files);
    throw error;
  }
}

/** Opens files for as long as `use` takes. @throws as `openSources` does, and what `use` throws */
export async function withSources<T>(
  blobs: Blobs,
  sources: readonly SourceFile[],
  use: (files: readonly OpenFile[]) => Promise<T>,
): Promise<T> {
  const files = await openSources(blobs, sources);
  try {
    return await use(openFiles(files));
  } finally {
    await closeSources(files);
  }
}

export async function closeSources(files: readonly FileSource[]): Promise<void> {
  await Promise.all(files.map((file) => file.close()));
}

/** What of the files crosses to another thread. */
export function openFiles(files: readonly FileSource[]): OpenFile[] {
  return files.map(({ descriptor, size }) => ({ descriptor, size }));
}

async function openOne(blobs: Blobs, source: SourceFile): Promise<FileSource> {
  const file = await blobs.open(source.path);
  if (file === undefined) throw source.refusal("missing");
  if (file.size === source.size) return file;
  await file.close();
  throw source.refusal("damaged");
}
