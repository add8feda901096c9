import { layOut } from "./contents.ts";
import type { PackageFormat } from "./format.ts";
import {
  chunkBytes,
  chunkCount,
  cipherSize,
  deriveKeys,
  packageFrame,
  packageSize,
  type Seal,
} from "./intunewin.ts";

const setupFile = "install.ps1";

/** A Win32 app for Microsoft Intune: the ZIP as for `rmm`, with the icon, sealed and wrapped. */
export const mdm: PackageFormat = {
  id: "mdm",
  label: "Intune (.intunewin)",
  isSealed: true,
  fileName: (slug) => `${slug}.intunewin`,
  build(contents, workshop) {
    const zip = layOut(contents, { withIcon: true });
    const keys = deriveKeys(workshop.secret, zip.digest);
    const plainSize = zip.layout.size;
    // Asked for once a download: it may be refused before the first byte goes out, never afterwards.
    let measured: Seal | undefined;
    return {
      size: packageSize(plainSize, setupFile),
      etag: `mdm-${zip.digest.toString("hex", 0, 16)}`,
      prepare: async () => {
        measured = await workshop.measure(zip, keys);
      },
      async *chunks(start, end) {
        const seal = measured ?? (await workshop.measure(zip, keys));
        const { head, tail } = packageFrame(plainSize, setupFile, keys, seal);
        const tailStart = head.length + cipherSize(plainSize);
        if (start < head.length) yield head.subarray(start, end);
        const from = Math.max(0, start - head.length);
        const to = Math.min(end, tailStart) - head.length;
        if (from < to) {
          const first = Math.min(Math.floor(from / chunkBytes), chunkCount(plainSize) - 1);
          const last = Math.min(Math.ceil(to / chunkBytes), chunkCount(plainSize));
          let at = first * chunkBytes;
          for await (const sealed of workshop.seal(zip, keys, seal, first, last)) {
            yield sealed.subarray(Math.max(0, from - at), to - at);
            at += sealed.length;
          }
        }
        if (end > tailStart) yield tail.subarray(Math.max(0, start - tailStart), end - tailStart);
      },
    };
  },
};
