/** The folders of files that are named by the SHA-256 of their content. */
export const blobKinds = ["drivers", "icons"] as const;
export type BlobKind = (typeof blobKinds)[number];

const extensions: Readonly<Record<BlobKind, string>> = { drivers: "zip", icons: "png" };

export function blobName(kind: BlobKind, sha256: string): string {
  return `${sha256}.${extensions[kind]}`;
}

/** The digest that a file's name gives; undefined for a name that is none of ours. */
export function blobDigest(kind: BlobKind, name: string): string | undefined {
  const sha256 = name.slice(0, 64);
  return /^[0-9a-f]{64}$/.test(sha256) && name === blobName(kind, sha256) ? sha256 : undefined;
}
