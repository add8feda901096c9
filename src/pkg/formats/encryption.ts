import { createCipheriv, hkdfSync } from "node:crypto";
import type { ByteSource } from "../../domain/byte-source.ts";
import { fillFromLayout, type Layout } from "../zip/layout.ts";

/** What encrypts one package. The package itself carries all of it. */
export interface EncryptionKeys {
  /** AES-256, 32 bytes. */
  readonly encryptionKey: Uint8Array;
  /** HMAC-SHA-256, 32 bytes. */
  readonly macKey: Uint8Array;
  /** 16 bytes. */
  readonly iv: Uint8Array;
}

/** Of AES, in bytes. */
export const blockBytes = 16;
/** Plain bytes that are encrypted at a time; a multiple of the cipher's block. */
export const chunkBytes = 512 * 1024;
/** An encrypted chunk's size at the most: the last one is padded. */
export const encryptedChunkBytes = chunkBytes + blockBytes;
/** Encrypted at a time: what fits into a core’s own cache is encrypted much faster. */
const sliceBytes = 64 * 1024;

/**
 * Keys of a package, from the installation's secret and the digest of what it begins with: packages of the same
 * drivers begin with the same bytes, packages of other drivers share no key and IV (docs/decisions/0004).
 */
export function deriveKeys(secret: Uint8Array, prefixDigest: Uint8Array): EncryptionKeys {
  const material = new Uint8Array(hkdfSync("sha256", secret, prefixDigest, "platen intunewin 2", 80));
  return {
    encryptionKey: material.slice(0, 32),
    macKey: material.slice(32, 64),
    iv: material.slice(64, 80),
  };
}

/** How many chunks a payload has. The last one is padded, and may hold nothing else. */
export function chunkCount(plainSize: number): number {
  return Math.floor(plainSize / chunkBytes) + 1;
}

/** Of the ciphertext alone, padding included, in bytes. */
export function cipherSize(plainSize: number): number {
  return (Math.floor(plainSize / blockBytes) + 1) * blockBytes;
}

/** Bytes of a file from `start` up to `end`, both multiples of a block, or `end` the end of the file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A chunk's place in the file. */
export function chunkSpan(index: number, plainSize: number): Span {
  return { start: index * chunkBytes, end: Math.min((index + 1) * chunkBytes, plainSize) };
}

/** What encrypting takes its bytes from. */
export interface Plaintext {
  readonly layout: Layout;
  /** In the order of their numbers in the layout. */
  readonly sources: readonly ByteSource[];
}

/**
 * Encrypts at most a chunk (AES-256-CBC), beginning with the cipher's state that stands before it: the IV, or the
 * last block of what was encrypted before. The file's last chunk is padded (PKCS #7).
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
  for (let from = 0; from < part.length; from += sliceBytes)
    take(cipher.update(part.subarray(from, from + sliceBytes)));
  if (isLast) take(cipher.final());
  return at;
}
