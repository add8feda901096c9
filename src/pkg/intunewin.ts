import { createCipheriv, createHash, createHmac, hkdfSync } from "node:crypto";
import { crc32 } from "node:zlib";
import type { ByteSource } from "../domain/byte-source.ts";
import { crc32Combine } from "./crc32.ts";
import { type Layout, readLayout } from "./layout.ts";
import { xml } from "./xml.ts";
import { directoryRecord, endRecord, type FileRecord, localHeader } from "./zip-records.ts";

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
export const chunkBytes = 1024 * 1024;
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

/** Seals one chunk, beginning with the cipher state that stands before it. */
export async function sealChunk(
  layout: Layout,
  sources: readonly ByteSource[],
  keys: SealKeys,
  state: Uint8Array,
  index: number,
): Promise<Buffer> {
  const start = index * chunkBytes;
  const isLast = index === chunkCount(layout.size) - 1;
  const plain = await readLayout(layout, sources, start, isLast ? layout.size - start : chunkBytes);
  const cipher = createCipheriv("aes-256-cbc", keys.encryptionKey, state).setAutoPadding(isLast);
  const sealed = cipher.update(plain);
  return isLast ? Buffer.concat([sealed, cipher.final()]) : sealed;
}

/** The first pass's larger half: MAC, checksum and checkpoints. */
export async function authenticate(
  layout: Layout,
  sources: readonly ByteSource[],
  keys: SealKeys,
): Promise<Omit<Seal, "digest">> {
  const count = chunkCount(layout.size);
  const checkpoints = new Uint8Array(count * blockBytes);
  const hmac = createHmac("sha256", keys.macKey).update(keys.iv);
  let state = keys.iv;
  let crc = 0;
  for (let index = 0; index < count; index++) {
    checkpoints.set(state, index * blockBytes);
    const sealed = await sealChunk(layout, sources, keys, state, index);
    hmac.update(sealed);
    crc = crc32(sealed, crc);
    state = Uint8Array.from(sealed.subarray(-blockBytes));
  }
  const mac = hmac.digest();
  const prefixCrc = crc32(keys.iv, crc32(mac));
  return { mac, crc32: crc32Combine(prefixCrc, crc, cipherSize(layout.size)), checkpoints };
}

/** The first pass's smaller half: SHA-256 over the plain inner ZIP. */
export async function digestLayout(layout: Layout, sources: readonly ByteSource[]): Promise<Buffer> {
  const hash = createHash("sha256");
  for (let at = 0; at < layout.size; at += chunkBytes) {
    hash.update(await readLayout(layout, sources, at, Math.min(chunkBytes, layout.size - at)));
  }
  return hash.digest();
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
