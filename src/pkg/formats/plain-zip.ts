import type { LaidOutFile } from "./contents.ts";
import type { PackageContext, PackageFile } from "./format.ts";

export const zipContentType = "application/zip";

/** A ZIP that is sent as it is laid out. @param kind tells its ETag from those of others of the same contents */
export function plainZip(kind: string, file: LaidOutFile, context: PackageContext): PackageFile {
  return {
    size: file.layout.size,
    etag: `${kind}-${Buffer.from(file.digest).toString("hex", 0, 16)}`,
    open: () => context.openPlain(file),
  };
}
