import { createHash } from "node:crypto";
import type { EncryptionInfo } from "./checkpoints.ts";
import type { Contents, LaidOutZip } from "./contents.ts";
import { cipherSize, deriveKeys, type EncryptionKeys } from "./encryption.ts";
import type { EncryptingZip, OpenPackage, PackageContext, PackageFile, PackageFormat } from "./format.ts";
import { intuneDependencies, intuneSections } from "./intune-fields.ts";
import { detectionXml, packageFrame, packageSize } from "./intunewin.ts";

export const setupFile = "install.ps1";

interface IntunePackage extends PackageFile {
  /**
   * SHA-256 of its `Detection.xml` in hex, which names all of the content: it has the keys, and the HMAC of what they encrypt.
   * @throws UserError "busy", or "invalid" with the remedy
   */
  detectionDigest(): Promise<string>;
}

/** A Win32 app for Microsoft Intune: the ZIP as for `rmm`, with the icon, encrypted and wrapped. */
export const mdm = {
  id: "mdm",
  target: "Intune",
  label: "Intune (.intunewin)",
  fileType: ".intunewin",
  contentType: "application/octet-stream",
  extension: ".intunewin",
  hasIcon: true,
  guide: "Apps > All Apps > Create, Windows app (Win32): this file, these fields.",
  fields: intuneSections,
  apartFields: intuneDependencies,
  snippets: () => [],
  tools: () => [],
  async build(contents: Contents, context: PackageContext): Promise<IntunePackage> {
    const zip = await context.layOut(contents);
    const keys = deriveKeys(context.secret, keyDigest(zip));
    const { size } = zip.layout;
    return {
      size: packageSize(size, setupFile),
      etag: `mdm-${etagOf(zip, keys)}`,
      detectionDigest: async () => {
        const open = await context.openForEncryption(zip);
        const sums = await open.encryptionInfo(keys).finally(() => open.close());
        return createHash("sha256")
          .update(detectionXml(size, setupFile, keys, sums))
          .digest("hex");
      },
      open: async () => openEncrypted(await context.openForEncryption(zip), keys, size),
    };
  },
  async prepare(contents, context) {
    const zip = await context.layOut(contents);
    const open = await context.openForEncryption(zip);
    await open.prepare(deriveKeys(context.secret, keyDigest(zip))).finally(() => open.close());
  },
} as const satisfies PackageFormat;

/** Packages that begin with the same drivers begin with the same bytes; one without any shares nothing. */
function keyDigest({ drivers, digest }: LaidOutZip): Uint8Array {
  return drivers.sourceCount > 0 ? drivers.digest : digest;
}

/** The bytes depend on the keys too: an installation with another secret makes others. */
function etagOf({ digest }: LaidOutZip, { iv }: EncryptionKeys): string {
  return createHash("sha256").update(digest).update(iv).digest("hex").slice(0, 32);
}

/** Asked for once a download: it may be refused before the first byte goes out, never afterwards. */
async function openEncrypted(
  zip: EncryptingZip,
  keys: EncryptionKeys,
  plainSize: number,
): Promise<OpenPackage> {
  try {
    const info = await zip.encryptionInfo(keys);
    return {
      chunks: (start, end) => encryptedChunks(zip, keys, info, plainSize, start, end),
      close: () => zip.close(),
    };
  } catch (error) {
    await zip.close();
    throw error;
  }
}

async function* encryptedChunks(
  zip: EncryptingZip,
  keys: EncryptionKeys,
  info: EncryptionInfo,
  plainSize: number,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  const { head, tail } = packageFrame(plainSize, setupFile, keys, info);
  const tailStart = head.length + cipherSize(plainSize);
  if (start < head.length) yield head.subarray(start, end);
  const from = Math.max(0, start - head.length);
  const to = Math.min(end, tailStart) - head.length;
  if (from < to) yield* zip.encrypt(keys, info, from, to);
  if (end > tailStart) yield tail.subarray(Math.max(0, start - tailStart), end - tailStart);
}
