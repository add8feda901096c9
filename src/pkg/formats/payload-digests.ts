import { createHash, type Hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { crc32Combine } from "../zip/crc32.ts";
import type { EncryptionKeys } from "./encryption.ts";

/** What the package says of its payload. */
export interface PayloadSums {
  /** HMAC-SHA-256 of the IV and the ciphertext. */
  readonly mac: Uint8Array;
  /** SHA-256 of the plain inner ZIP. */
  readonly fileDigest: Uint8Array;
  /** Of the payload: MAC, IV and ciphertext. */
  readonly crc32: number;
}

/**
 * The running digests of a payload. They can be copied at any place: payloads that begin with the same bytes share
 * the work for these. Node copies a hash but no HMAC, so the HMAC is built of two hashes (RFC 2104).
 */
export class PayloadDigests {
  readonly #keys: EncryptionKeys;
  readonly #inner: Hash;
  readonly #plain: Hash;
  #crc = 0;
  #encryptedSize = 0;

  private constructor(keys: EncryptionKeys, inner: Hash, plain: Hash) {
    this.#keys = keys;
    this.#inner = inner;
    this.#plain = plain;
  }

  /** Of nothing yet. */
  static begin(keys: EncryptionKeys): PayloadDigests {
    const inner = createHash("sha256").update(padded(keys.macKey, 0x36)).update(keys.iv);
    return new PayloadDigests(keys, inner, createHash("sha256"));
  }

  copy(): PayloadDigests {
    const copy = new PayloadDigests(this.#keys, this.#inner.copy(), this.#plain.copy());
    copy.#crc = this.#crc;
    copy.#encryptedSize = this.#encryptedSize;
    return copy;
  }

  /** Takes what comes next: plain bytes, and the same encrypted, with the padding at the end. */
  update(plain: Uint8Array, encrypted: Uint8Array): void {
    this.#plain.update(plain);
    this.#inner.update(encrypted);
    this.#crc = crc32(encrypted, this.#crc);
    this.#encryptedSize += encrypted.length;
  }

  /** Ends them; nothing can be added any more. */
  finish(): PayloadSums {
    const outer = createHash("sha256").update(padded(this.#keys.macKey, 0x5c));
    const mac = outer.update(this.#inner.digest()).digest();
    const prefixCrc = crc32(this.#keys.iv, crc32(mac));
    const sum = crc32Combine(prefixCrc, this.#crc, this.#encryptedSize);
    return { mac: new Uint8Array(mac), fileDigest: new Uint8Array(this.#plain.digest()), crc32: sum };
  }
}

/** Of SHA-256, in bytes; longer than the key, which zeros fill up. */
const hashBlockBytes = 64;

function padded(key: Uint8Array, byte: number): Buffer {
  const block = Buffer.alloc(hashBlockBytes, byte);
  for (const [i, value] of key.entries()) block[i] = value ^ byte;
  return block;
}
