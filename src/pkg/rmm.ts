import { layOut } from "./contents.ts";
import type { PackageFormat } from "./format.ts";

/** A ZIP for remote-monitoring tools: the scripts at its root, the driver below `driver/`. */
export const rmm: PackageFormat = {
  id: "rmm",
  label: "RMM (ZIP)",
  isSealed: false,
  fileName: (slug) => `${slug}.zip`,
  build(contents, workshop) {
    const zip = layOut(contents, { withIcon: false });
    return {
      size: zip.layout.size,
      etag: `rmm-${zip.digest.toString("hex", 0, 16)}`,
      prepare: async () => {},
      chunks: (start, end) => workshop.read(zip, start, end),
    };
  },
};
