import type { LaidOutZip } from "./contents.ts";
import type { PackageFile, PackageFormat, Workshop } from "./format.ts";

/** A ZIP for remote-monitoring tools: the scripts at its root, the driver below `driver/`. */
export const rmm: PackageFormat = {
  id: "rmm",
  label: "RMM (ZIP)",
  isSealed: false,
  hasIcon: false,
  fileName: (slug) => `${slug}.zip`,
  build: async (contents, workshop) => plainZip("rmm", await workshop.layOut(contents), workshop),
};

/** A ZIP that is sent as it is laid out. */
export function plainZip(kind: string, zip: LaidOutZip, workshop: Workshop): PackageFile {
  return {
    size: zip.layout.size,
    etag: `${kind}-${Buffer.from(zip.digest).toString("hex", 0, 16)}`,
    open: async () => {
      const open = await workshop.open(zip);
      return { chunks: (start, end) => open.read(start, end), close: () => open.close() };
    },
  };
}
