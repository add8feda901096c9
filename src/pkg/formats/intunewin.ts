import { crc32 } from "node:zlib";
import { directoryRecord, endRecord, type FileRecord, localHeader } from "../zip/zip-records.ts";
import { cipherSize, type EncryptionKeys } from "./encryption.ts";
import type { PayloadSums } from "./payload-digests.ts";

/** MAC and IV, before the ciphertext. */
const prefixBytes = 48;

export const setupFile = "install.ps1";

const contentName = "IntuneWinPackage/Contents/IntunePackage.intunewin";
const detectionName = "IntuneWinPackage/Metadata/Detection.xml";

/** The size of the whole package in bytes. It does not depend on keys and sums. */
export function packageSize(plainSize: number): number {
  const blank = { mac: new Uint8Array(32), fileDigest: new Uint8Array(32), crc32: 0 };
  const keys = { encryptionKey: new Uint8Array(32), macKey: new Uint8Array(32), iv: new Uint8Array(16) };
  const wrapper = packageWrapper(plainSize, keys, blank);
  return wrapper.head.length + cipherSize(plainSize) + wrapper.end.length;
}

export function packageWrapper(
  plainSize: number,
  keys: EncryptionKeys,
  sums: PayloadSums,
): { head: Buffer; end: Buffer } {
  const payloadSize = prefixBytes + cipherSize(plainSize);
  const detection = detectionXml(plainSize, keys, sums);
  const content = storedRecord(contentName, sums.crc32, payloadSize);
  const metadata = storedRecord(detectionName, crc32(detection), detection.length);
  const contentHeader = localHeader(content, growthHint);
  const metadataHeader = localHeader(metadata, growthHint);
  const metadataOffset = contentHeader.length + payloadSize;
  const directory = Buffer.concat([directoryRecord(content, 0), directoryRecord(metadata, metadataOffset)]);
  const directoryOffset = metadataOffset + metadataHeader.length + detection.length;
  return {
    head: Buffer.concat([contentHeader, sums.mac, keys.iv]),
    end: Buffer.concat([
      metadataHeader,
      detection,
      directory,
      endRecord(2, directory.length, directoryOffset),
    ]),
  };
}

/**
 * `Detection.xml` as Microsoft's tool 1.8.7 writes it: no byte order mark, no declaration, CRLF, no final line break.
 * None of its values needs an escape in XML.
 */
export function detectionXml(plainSize: number, keys: EncryptionKeys, sums: PayloadSums): Buffer {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const text = `<ApplicationInfo xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ToolVersion="1.8.7.0">
  <Name>${setupFile}</Name>
  <UnencryptedContentSize>${plainSize}</UnencryptedContentSize>
  <FileName>IntunePackage.intunewin</FileName>
  <SetupFile>${setupFile}</SetupFile>
  <EncryptionInfo>
    <EncryptionKey>${base64(keys.encryptionKey)}</EncryptionKey>
    <MacKey>${base64(keys.macKey)}</MacKey>
    <InitializationVector>${base64(keys.iv)}</InitializationVector>
    <Mac>${base64(sums.mac)}</Mac>
    <ProfileIdentifier>ProfileVersion1</ProfileIdentifier>
    <FileDigest>${base64(sums.fileDigest)}</FileDigest>
    <FileDigestAlgorithm>SHA256</FileDigestAlgorithm>
  </EncryptionInfo>
</ApplicationInfo>`;
  return Buffer.from(text.replaceAll("\n", "\r\n"), "utf8");
}

/** OPC growth hint (ECMA-376-2, C.1): signature, padding length, 20 zero bytes. */
const growthHint = Buffer.from(`20a2180028a01400${"00".repeat(20)}`, "hex");

function storedRecord(name: string, crc: number, size: number): FileRecord {
  const versions = { versionMadeBy: 45, versionNeeded: 10 };
  return { name: Buffer.from(name), ...versions, flags: 0, method: 0, crc32: crc, packedSize: size, size };
}
