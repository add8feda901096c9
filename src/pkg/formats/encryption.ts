import { createCipheriv, hkdfSync } from "node:crypto";
import type { ByteSource } from "../../domain/byte-source.ts";
import { fillFromLayout, type Layout } from "../zip/layout.ts";

/** The keys of one package. The package contains all of them. */
export interface EncryptionKeys {
  /** AES-256, 32 bytes. */
  readonly encryptionKey: Uint8Array;
  /** HMAC-SHA-256, 32 bytes. */
  readonly macKey: Uint8Array;
  /** 16 bytes. */
  readonly iv: Uint8Array;
}

export const blockBytes = 16;
/** Plain bytes of a chunk, a multiple of `blockBytes`. */
export const chunkBytes = 512 * 1024;
/** The largest encrypted chunk: the last one is padded. */
export const encryptedChunkBytes = chunkBytes + blockBytes;
/** Plain bytes for one call of the cipher. Encryption is much faster if they fit into the core’s cache. */
const cipherInputBytes = 64 * 1024;

/**
 * Derives the keys of a package from the installation's secret and the digest of the package's beginning. Packages of
 * the same drivers begin with the same bytes and share keys. Packages of other drivers have other keys and IVs
 * (docs/decisions/0004).
 */
export function deriveKeys(secret: Uint8Array, prefixDigest: Uint8Array): EncryptionKeys {
  const material = new Uint8Array(hkdfSync("sha256", secret, prefixDigest, "platen intunewin 2", 80));
  return { encryptionKey: material.slice(0, 32), macKey: material.slice(32, 64), iv: material.slice(64, 80) };
}

/** How many chunks a payload has. The last one is padded, and may contain only padding. */
export function chunkCount(plainSize: number): number {
  return Math.floor(plainSize / chunkBytes) + 1;
}

/** Size of the ciphertext in bytes, with padding, without MAC and IV. */
export function cipherSize(plainSize: number): number {
  return (Math.floor(plainSize / blockBytes) + 1) * blockBytes;
}

/** Bytes of a file from `start` up to `end`, exclusive. Both are multiples of `blockBytes`, or `end` is the end of the file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export function chunkSpan(index: number, plainSize: number): Span {
  return { start: index * chunkBytes, end: Math.min((index + 1) * chunkBytes, plainSize) };
}

/** A layout and the sources that its bytes come from. */
export interface Plaintext {
  readonly layout: Layout;
  /** In the order of their numbers in the layout. */
  readonly sources: readonly ByteSource[];
}

/**
 * Encrypts at most one chunk (AES-256-CBC). The file's last chunk is padded (PKCS #7).
 * @param state the IV, or the last encrypted block before the span
 * @param plain a buffer for a chunk
 * @param encrypted a buffer for `encryptedChunkBytes`
 * @returns how many bytes of `encrypted` are filled
 */
export async function encryptSpan(
  { layout, sources }: Plaintext,
  { encryptionKey }: EncryptionKeys,
  state: Uint8Array,
  { start, end }: Span,
  plain: Uint8Array,
  encrypted: Uint8Array,
): Promise<number> {
  const part = plain.subarray(0, end - start);
  await fillFromLayout(layout, sources, start, part);
  const isLast = end === layout.size && Math.floor(start / chunkBytes) === chunkCount(layout.size) - 1;
  const cipher = createCipheriv("aes-256-cbc", encryptionKey, state).setAutoPadding(isLast);
  let at = 0;
  const take = (bytes: Buffer) => {
    encrypted.set(bytes, at);
    at += bytes.length;
  };
  for (let from = 0; from < part.length; from += cipherInputBytes)
    take(cipher.update(part.subarray(from, from + cipherInputBytes)));
  if (isLast) take(cipher.final());
  return at;
}
