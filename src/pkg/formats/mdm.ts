import type { OpenPackage, OpenZip, PackageFormat } from "./format.ts";
import {
  chunkBytes,
  chunkCount,
  cipherSize,
  deriveKeys,
  packageFrame,
  packageSize,
  type Seal,
  type SealKeys,
} from "./intunewin.ts";

const setupFile = "install.ps1";

/** A Win32 app for Microsoft Intune: the ZIP as for `rmm`, with the icon, sealed and wrapped. */
export const mdm: PackageFormat = {
  id: "mdm",
  label: "Intune (.intunewin)",
  isSealed: true,
  hasIcon: true,
  fileName: (slug) => `${slug}.intunewin`,
  async build(contents, workshop) {
    const zip = await workshop.layOut(contents);
    const keys = deriveKeys(workshop.secret, zip.digest);
    const { size } = zip.layout;
    return {
      size: packageSize(size, setupFile),
      etag: `mdm-${Buffer.from(zip.digest).toString("hex", 0, 16)}`,
      open: async () => openSealed(await workshop.open(zip), keys, size),
    };
  },
};

/** Measured once a download: it may be refused before the first byte goes out, never afterwards. */
async function openSealed(zip: OpenZip, keys: SealKeys, plainSize: number): Promise<OpenPackage> {
  try {
    const seal = await zip.measure(keys);
    return {
      chunks: (start, end) => sealedChunks(zip, keys, seal, plainSize, start, end),
      close: () => zip.close(),
    };
  } catch (error) {
    await zip.close();
    throw error;
  }
}

async function* sealedChunks(
  zip: OpenZip,
  keys: SealKeys,
  seal: Seal,
  plainSize: number,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  const { head, tail } = packageFrame(plainSize, setupFile, keys, seal);
  const tailStart = head.length + cipherSize(plainSize);
  if (start < head.length) yield head.subarray(start, end);
  const from = Math.max(0, start - head.length);
  const to = Math.min(end, tailStart) - head.length;
  if (from < to) {
    const first = Math.min(Math.floor(from / chunkBytes), chunkCount(plainSize) - 1);
    const last = Math.min(Math.ceil(to / chunkBytes), chunkCount(plainSize));
    let at = first * chunkBytes;
    for await (const sealed of zip.seal(keys, seal, first, last)) {
      yield sealed.subarray(Math.max(0, from - at), to - at);
      at += sealed.length;
    }
  }
  if (end > tailStart) yield tail.subarray(Math.max(0, start - tailStart), end - tailStart);
}
