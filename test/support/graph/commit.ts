import { createDecipheriv, createHash, createHmac } from "node:crypto";
import { base64, checkShape, type Fields, oneOf, onlyField, type Shape } from "./schema.ts";
import type { ContentFile } from "./state.ts";
import type { Tenant } from "./tenant.ts";

const bytes = (length: number) => base64((value) => value.length === length);

const encryptionInfo: Shape = {
  type: "#microsoft.graph.fileEncryptionInfo",
  isTypeOptional: true,
  properties: {
    ...{ encryptionKey: bytes(32), macKey: bytes(32), initializationVector: bytes(16), mac: bytes(32) },
    ...{ profileIdentifier: oneOf("ProfileVersion1"), fileDigestAlgorithm: oneOf("SHA256") },
    fileDigest: bytes(32),
  },
};

/** @returns the keys of a payload, and the digest of its decrypted content. @throws a refusal of an invalid body */
export function checkCommit(body: unknown): Fields {
  return checkShape(onlyField(body, "fileEncryptionInfo"), encryptionInfo);
}

/** Decrypts the uploaded payload and sets the file's content. @returns why it is refused, or an empty string */
export function verifyPayload({ behaviour }: Tenant, file: ContentFile, info: Fields): string {
  if (behaviour.commitFailures > 0) {
    behaviour.commitFailures--;
    return "a simulated failure";
  }
  const payload = Buffer.concat(file.list ?? []);
  const of = (name: string) => Buffer.from(String(info[name]), "base64");
  const [mac, iv] = [of("mac"), of("initializationVector")];
  if (payload.length !== file.sizeEncrypted)
    return `the payload has ${payload.length} bytes, not ${file.sizeEncrypted}`;
  if (!payload.subarray(0, 48).equals(Buffer.concat([mac, iv])))
    return "the payload does not begin with the mac and the initialization vector";
  if (!createHmac("sha256", of("macKey")).update(payload.subarray(32)).digest().equals(mac))
    return "the payload's mac is another one";
  const plain = decrypted(payload.subarray(48), of("encryptionKey"), iv);
  if (plain?.length !== file.size) return `the payload does not hold ${file.size} bytes`;
  const digest = createHash("sha256").update(plain).digest();
  if (!digest.equals(of("fileDigest"))) return "what the payload holds has another digest";
  if (!behaviour.keepsContent) file.blocks.clear();
  if (!behaviour.keepsContent) file.list = [];
  file.content = { size: plain.length, sha256: digest.toString("hex") };
  return "";
}

function decrypted(sealed: Buffer, key: Buffer, iv: Buffer): Buffer | undefined {
  const decipher = createDecipheriv("aes-256-cbc", key, iv);
  try {
    return Buffer.concat([decipher.update(sealed), decipher.final()]);
  } catch {
    return undefined;
  }
}
