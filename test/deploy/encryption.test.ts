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
import { PayloadDigests } from "../../src/pkg/formats/payload-digests.ts";
import { joinLayouts, LayoutBuilder, singleSourceLayout } from "../../src/pkg/zip/layout.ts";
import { selectCases } from "../support/depth.ts";
import { sourceOf } from "../support/drivers/zip.ts";

const keys = deriveKeys(Buffer.alloc(32, 1), Buffer.alloc(32, 2));

/** Reproducible bytes. Files of the same seed have a common beginning. */
function bytesOfSize(size: number, seed = 0): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 31 + (i >> 9) + seed) & 0xff;
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

/** Compares the digests of a payload with those of Node. */
function assertSums(
  { mac, fileDigest, crc32 }: { mac: Uint8Array; fileDigest: Uint8Array; crc32: number },
  expected: ReturnType<typeof expectedOf>,
  what: string,
): void {
  assert.deepEqual(Buffer.from(mac), expected.mac, what);
  assert.deepEqual(Buffer.from(fileDigest), expected.fileDigest, what);
  assert.equal(crc32, expected.crc32, what);
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

test("a payload that continues an encrypted prefix equals one that is encrypted at once", async () => {
  for (const size of edges) {
    const bytes = bytesOfSize(size);
    const plaintext = plaintextOf(bytes);
    const expected = expectedOf(bytes, keys);
    const shorter = edges.filter((edge) => edge < size || edge === 0);
    for (const common of selectCases(shorter, 3)) {
      const { prefix, digests } = await encryptPrefix(plaintext, keys, prefixSize(common));

      const info = await finishEncryption(plaintext, keys, prefix, digests);
      const encrypted = await encryptedByChunks(plaintext, info.checkpoints);

      const what = `${size} bytes, ${common} in common`;
      assert.equal(info.checkpoints.length, chunkCount(size) * blockBytes, what);
      assert.equal(encrypted.length, cipherSize(size), what);
      assert.ok(encrypted.equals(expected.encrypted), what);
      assertSums(info, expected, what);
    }
  }
});

test("several payloads continue one prefix, each with its own digests", async () => {
  const common = bytesOfSize(chunkBytes + 100);
  const ends = [Buffer.alloc(5, 1), Buffer.alloc(chunkBytes, 2), Buffer.from("a third one")];
  const { prefix, digests } = await encryptPrefix(
    plaintextOf(Buffer.concat([common, Buffer.alloc(1)])),
    keys,
    prefixSize(common.length),
  );

  for (const end of ends) {
    const whole = Buffer.concat([common, end]);
    const layout = joinLayouts(singleSourceLayout(common.length), new LayoutBuilder().bytes(end).build());

    const info = await finishEncryption(
      { layout, sources: [sourceOf(common)] },
      keys,
      prefix,
      digests.copy(),
    );

    assertSums(info, expectedOf(whole, keys), `${end.length} bytes`);
  }
});

test("the HMAC from two hashes equals Node's HMAC", () => {
  const [plain, encrypted] = [Buffer.from("plain"), Buffer.from("in place of a ciphertext")];
  const digests = PayloadDigests.begin(keys);

  digests.update(plain, encrypted);

  const mac = createHmac("sha256", keys.macKey).update(keys.iv).update(encrypted).digest();
  assert.deepEqual(Buffer.from(digests.finish().mac), mac);
});
