import { createCipheriv, createHash, createHmac, type Hmac, hkdfSync } from "node:crypto";
import { crc32 } from "node:zlib";
import type { ByteSource } from "../../domain/byte-source.ts";
import { crc32Combine } from "../zip/crc32.ts";
import { fillFromLayout, type Layout } from "../zip/layout.ts";
import { directoryRecord, endRecord, type FileRecord, localHeader } from "../zip/zip-records.ts";
import { xml } from "./xml.ts";

/** What encrypts one package. The package itself carries all of it. */
export interface SealKeys {
  readonly encryptionKey: Uint8Array;
  readonly macKey: Uint8Array;
  readonly iv: Uint8Array;
}

/** What a first pass over the inner ZIP finds out, and all that a second one needs to seal it piece by piece. */
export interface Seal {
  readonly mac: Uint8Array;
  /** SHA-256 of the plain inner ZIP. */
  readonly digest: Uint8Array;
  /** Of the encrypted payload, MAC and IV included. */
  readonly crc32: number;
  /** The cipher's state before each chunk: 16 bytes a chunk. */
  readonly checkpoints: Uint8Array;
}

/** Plain bytes that are sealed at a time; a multiple of the cipher's block. */
export const chunkBytes = 512 * 1024;
const blockBytes = 16;
const prefixBytes = 48;

/**
 * Keys of a package, from the installation's secret and the digest of what is packed: the same contents
 * give the same bytes, two contents never share a key and IV (docs/decisions/0007).
 */
export function deriveKeys(secret: Uint8Array, contentDigest: Uint8Array): SealKeys {
  const material = new Uint8Array(hkdfSync("sha256", secret, contentDigest, "platen intunewin 1", 80));
  return {
    encryptionKey: material.slice(0, 32),
    macKey: material.slice(32, 64),
    iv: material.slice(64, 80),
  };
}

export function chunkCount(plainSize: number): number {
  return Math.floor(plainSize / chunkBytes) + 1;
}

/** Of the ciphertext alone, padding included. */
export function cipherSize(plainSize: number): number {
  return (Math.floor(plainSize / blockBytes) + 1) * blockBytes;
}

/** A sealed chunk's size at the most: the last one is padded. */
export const sealedChunkBytes = chunkBytes + blockBytes;
/** Encrypted at a time: what fits into a core's own cache is hashed much faster. */
const sliceBytes = 64 * 1024;

/**
 * Seals one chunk, beginning with the cipher state that stands before it.
 * @param plain room for a chunk
 * @param sealed room for `sealedChunkBytes`
 * @returns how many bytes of `sealed` are filled
 */
export async function sealChunk(
  layout: Layout,
  sources: readonly ByteSource[],
  keys: SealKeys,
  state: Uint8Array,
  index: number,
  plain: Uint8Array,
  sealed: Uint8Array,
): Promise<number> {
  const part = await readChunk(layout, sources, index, plain);
  let at = 0;
  encryptChunk(layout, keys, state, index, part, (bytes) => {
    sealed.set(bytes, at);
    at += bytes.length;
  });
  return at;
}

/** Fills a buffer with a plain chunk: all of it, or less at the end. */
async function readChunk(
  layout: Layout,
  sources: readonly ByteSource[],
  index: number,
  buffer: Uint8Array,
): Promise<Uint8Array> {
  const part = buffer.subarray(0, Math.min(chunkBytes, layout.size - index * chunkBytes));
  await fillFromLayout(layout, sources, index * chunkBytes, part);
  return part;
}

function encryptChunk(
  layout: Layout,
  keys: SealKeys,
  state: Uint8Array,
  index: number,
  plain: Uint8Array,
  take: (sealed: Buffer) => void,
): void {
  const isLast = index === chunkCount(layout.size) - 1;
  const cipher = createCipheriv("aes-256-cbc", keys.encryptionKey, state).setAutoPadding(isLast);
  for (let at = 0; at < plain.length; at += sliceBytes)
    take(cipher.update(plain.subarray(at, at + sliceBytes)));
  if (isLast) take(cipher.final());
}

/**
 * The first pass's one half: encrypts everything, one chunk after the other.
 * @param place gives room for the next sealed chunk
 * @param done takes it
 * @returns the checkpoints
 */
export async function encryptAll(
  layout: Layout,
  sources: readonly ByteSource[],
  keys: SealKeys,
  place: () => Promise<Uint8Array>,
  done: (sealed: Uint8Array) => void,
): Promise<Uint8Array> {
  const count = chunkCount(layout.size);
  const checkpoints = new Uint8Array(count * blockBytes);
  const plain = Buffer.allocUnsafe(chunkBytes);
  let state = keys.iv;
  for (let index = 0; index < count; index++) {
    checkpoints.set(state, index * blockBytes);
    const room = await place();
    const length = await sealChunk(layout, sources, keys, state, index, plain, room);
    state = Uint8Array.from(room.subarray(length - blockBytes, length));
    done(room.subarray(0, length));
  }
  return checkpoints;
}

/** The first pass's other half: takes the sealed chunks in their order, and reads the plain ones itself. */
export class Authentication {
  readonly #layout: Layout;
  readonly #sources: readonly ByteSource[];
  readonly #keys: SealKeys;
  readonly #hmac: Hmac;
  readonly #digest = createHash("sha256");
  readonly #plain = Buffer.allocUnsafe(sliceBytes);
  #crc = 0;
  #read = 0;

  constructor(layout: Layout, sources: readonly ByteSource[], keys: SealKeys) {
    this.#layout = layout;
    this.#sources = sources;
    this.#keys = keys;
    this.#hmac = createHmac("sha256", keys.macKey).update(keys.iv);
  }

  async take(sealed: Uint8Array): Promise<void> {
    for (let at = 0; at < sealed.length; at += sliceBytes) {
      const slice = sealed.subarray(at, at + sliceBytes);
      this.#hmac.update(slice);
      this.#crc = crc32(slice, this.#crc);
      const plain = this.#plain.subarray(0, Math.min(slice.length, this.#layout.size - this.#read));
      await fillFromLayout(this.#layout, this.#sources, this.#read, plain);
      this.#digest.update(plain);
      this.#read += plain.length;
    }
  }

  finish(): Omit<Seal, "checkpoints"> {
    const mac = this.#hmac.digest();
    const prefixCrc = crc32(this.#keys.iv, crc32(mac));
    const crc = crc32Combine(prefixCrc, this.#crc, cipherSize(this.#layout.size));
    return { mac, digest: this.#digest.digest(), crc32: crc };
  }
}

const contentName = "IntuneWinPackage/Contents/IntunePackage.intunewin";
const detectionName = "IntuneWinPackage/Metadata/Detection.xml";

/** The size of the whole package, which does not depend on what its seal turns out to be. */
export function packageSize(plainSize: number, setupFile: string): number {
  const blank = {
    mac: new Uint8Array(32),
    digest: new Uint8Array(32),
    crc32: 0,
    checkpoints: new Uint8Array(),
  };
  const keys = { encryptionKey: new Uint8Array(32), macKey: new Uint8Array(32), iv: new Uint8Array(16) };
  const frame = packageFrame(plainSize, setupFile, keys, blank);
  return frame.head.length + cipherSize(plainSize) + frame.tail.length;
}

/** Everything of the package that stands before and behind the ciphertext. */
export function packageFrame(
  plainSize: number,
  setupFile: string,
  keys: SealKeys,
  seal: Seal,
): { head: Buffer; tail: Buffer } {
  const payloadSize = prefixBytes + cipherSize(plainSize);
  const detection = Buffer.from(detectionXml(plainSize, setupFile, keys, seal), "utf8");
  const content = storedRecord(contentName, seal.crc32, payloadSize);
  const metadata = storedRecord(detectionName, crc32(detection), detection.length);
  const contentHeader = localHeader(content, growthHint);
  const metadataHeader = localHeader(metadata, growthHint);
  const metadataOffset = contentHeader.length + payloadSize;
  const directory = Buffer.concat([directoryRecord(content, 0), directoryRecord(metadata, metadataOffset)]);
  const directoryOffset = metadataOffset + metadataHeader.length + detection.length;
  return {
    head: Buffer.concat([contentHeader, seal.mac, keys.iv]),
    tail: Buffer.concat([
      metadataHeader,
      detection,
      directory,
      endRecord(2, directory.length, directoryOffset),
    ]),
  };
}

/** As Microsoft's tool 1.8.7 writes it: no mark, no declaration, CRLF, no line end at the end. */
function detectionXml(plainSize: number, setupFile: string, keys: SealKeys, seal: Seal): string {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  return xml`<ApplicationInfo xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ToolVersion="1.8.7.0">
  <Name>${setupFile}</Name>
  <UnencryptedContentSize>${plainSize}</UnencryptedContentSize>
  <FileName>IntunePackage.intunewin</FileName>
  <SetupFile>${setupFile}</SetupFile>
  <EncryptionInfo>
    <EncryptionKey>${base64(keys.encryptionKey)}</EncryptionKey>
    <MacKey>${base64(keys.macKey)}</MacKey>
    <InitializationVector>${base64(keys.iv)}</InitializationVector>
    <Mac>${base64(seal.mac)}</Mac>
    <ProfileIdentifier>ProfileVersion1</ProfileIdentifier>
    <FileDigest>${base64(seal.digest)}</FileDigest>
    <FileDigestAlgorithm>SHA256</FileDigestAlgorithm>
  </EncryptionInfo>
</ApplicationInfo>`.replaceAll("\n", "\r\n");
}

/** OPC growth hint (ECMA-376-2, C.1): signature, padding length, 20 zero bytes. */
const growthHint = Buffer.from(`20a2180028a01400${"00".repeat(20)}`, "hex");

function storedRecord(name: string, crc: number, size: number): FileRecord {
  const versions = { versionMadeBy: 45, versionNeeded: 10 };
  return { name: Buffer.from(name), ...versions, flags: 0, method: 0, crc32: crc, packedSize: size, size };
}
