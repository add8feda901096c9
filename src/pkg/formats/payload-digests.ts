import { createHash, type Hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { crc32Combine } from "../zip/crc32.ts";
import type { EncryptionKeys } from "./encryption.ts";

/** The sums of a payload that the package contains. */
export interface PayloadSums {
  /** HMAC-SHA-256 of the IV and the ciphertext. */
  readonly mac: Uint8Array;
  /** SHA-256 of the plain inner ZIP. */
  readonly fileDigest: Uint8Array;
  /** CRC-32 of the whole payload: MAC, IV and ciphertext. */
  readonly crc32: number;
}

/**
 * The running digests of a payload. They can be copied at any point, so that payloads with the same beginning digest it
 * only once. Node can copy a hash but not an HMAC, so the HMAC is built from two hashes (RFC 2104).
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

  /** Adds the next bytes. @param encrypted the same bytes encrypted, the last ones with padding */
  update(plain: Uint8Array, encrypted: Uint8Array): void {
    this.#plain.update(plain);
    this.#inner.update(encrypted);
    this.#crc = crc32(encrypted, this.#crc);
    this.#encryptedSize += encrypted.length;
  }

  /** Nothing can be added afterwards. */
  finish(): PayloadSums {
    const outer = createHash("sha256").update(padded(this.#keys.macKey, 0x5c));
    const mac = outer.update(this.#inner.digest()).digest();
    const prefixCrc = crc32(this.#keys.iv, crc32(mac));
    const sum = crc32Combine(prefixCrc, this.#crc, this.#encryptedSize);
    return { mac: new Uint8Array(mac), fileDigest: new Uint8Array(this.#plain.digest()), crc32: sum };
  }
}

/** Block size of SHA-256. The key is shorter and is padded with zeros. */
const hashBlockBytes = 64;

function padded(key: Uint8Array, byte: number): Buffer {
  const block = Buffer.alloc(hashBlockBytes, byte);
  for (const [i, value] of key.entries()) block[i] = value ^ byte;
  return block;
}
