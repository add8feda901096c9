import assert from "node:assert/strict";
import { createCipheriv, createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { encryptPrefix, finishEncryption, prefixSize } from "../../src/pkg/formats/checkpoints.ts";
import {
  blockBytes,
  chunkBytes,
  chunkCount,
  chunkSpan,
  cipherSize,
  deriveKeys,
  type EncryptionKeys,
  encryptedChunkBytes,
  encryptSpan,
  type Plaintext,
} from "../../src/pkg/formats/encryption.ts";
import { singleSourceLayout } from "../../src/pkg/zip/layout.ts";
import { selectCases } from "../support/depth.ts";
import { sourceOf } from "../support/drivers/zip.ts";

const keys = deriveKeys(Buffer.alloc(32, 1), Buffer.alloc(32, 2));

/** Reproducible bytes. All have a common beginning. */
function bytesOfSize(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 31 + (i >> 9)) & 0xff;
  return bytes;
}

function plaintextOf(bytes: Buffer): Plaintext {
  return { layout: singleSourceLayout(bytes.length), sources: [sourceOf(bytes)] };
}

/** The result of Node's cipher and digests for the whole payload at once. */
function expectedOf(bytes: Buffer, { encryptionKey, macKey, iv }: EncryptionKeys) {
  const cipher = createCipheriv("aes-256-cbc", encryptionKey, iv);
  const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
  const mac = createHmac("sha256", macKey).update(iv).update(encrypted).digest();
  const sum = crc32(Buffer.concat([mac, iv, encrypted]));
  return { encrypted, mac, fileDigest: createHash("sha256").update(bytes).digest(), crc32: sum };
}

/** Encrypts every chunk separately, from its checkpoint. */
async function encryptedByChunks(plaintext: Plaintext, checkpoints: Uint8Array): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let i = 0; i < chunkCount(plaintext.layout.size); i++) {
    const state = checkpoints.subarray(i * blockBytes, (i + 1) * blockBytes);
    const [plain, out] = [new Uint8Array(chunkBytes), Buffer.alloc(encryptedChunkBytes)];
    const span = chunkSpan(i, plaintext.layout.size);
    chunks.push(out.subarray(0, await encryptSpan(plaintext, keys, state, span, plain, out)));
  }
  return Buffer.concat(chunks);
}

const edges = [
  ...[0, 1, 15, 16, 17, chunkBytes - 1, chunkBytes, chunkBytes + 1],
  ...[2 * chunkBytes, 2 * chunkBytes + 40],
];

test("payloads that continue one encrypted prefix equal those that are encrypted at once, each with its own digests", async () => {
  for (const common of selectCases(edges.slice(0, -1), 4)) {
    const longer = edges.filter((size) => size > common || common === 0);
    const start = plaintextOf(bytesOfSize(Math.max(...longer)));
    const { prefix, digests } = await encryptPrefix(start, keys, prefixSize(common));
    for (const size of selectCases(longer, 4)) {
      const bytes = bytesOfSize(size);
      bytes.fill(size, Math.min(common, size));
      const expected = expectedOf(bytes, keys);

      const info = await finishEncryption(plaintextOf(bytes), keys, prefix, digests.copy());
      const encrypted = await encryptedByChunks(plaintextOf(bytes), info.checkpoints);

      const what = `${size} bytes, ${common} in common`;
      assert.equal(info.checkpoints.length, chunkCount(size) * blockBytes, what);
      assert.equal(encrypted.length, cipherSize(size), what);
      assert.ok(encrypted.equals(expected.encrypted), what);
      assert.deepEqual(Buffer.from(info.mac), expected.mac, what);
      assert.deepEqual(Buffer.from(info.fileDigest), expected.fileDigest, what);
      assert.equal(info.crc32, expected.crc32, what);
    }
  }
});
