import { createDecipheriv, createHash, createHmac } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { base64, bytesOfBase64, checkShape, oneOf, onlyField, type Shape } from "./schema.ts";
import type { Blob, ContentFile } from "./state.ts";
import type { Tenant } from "./tenant.ts";

/** The keys of a payload, and the digest of its decrypted content. */
interface Keys {
  readonly encryptionKey: Buffer;
  readonly macKey: Buffer;
  readonly initializationVector: Buffer;
  readonly mac: Buffer;
  readonly fileDigest: Buffer;
}

const bytes = (length: number) => base64((value) => value.length === length, `${length} bytes`);

const encryptionInfo: Shape = {
  type: "#microsoft.graph.fileEncryptionInfo",
  isTypeOptional: true,
  properties: {
    ...{ encryptionKey: bytes(32), macKey: bytes(32), initializationVector: bytes(16), mac: bytes(32) },
    ...{ profileIdentifier: oneOf("ProfileVersion1"), fileDigestAlgorithm: oneOf("SHA256") },
    fileDigest: bytes(32),
  },
  required:
    "encryptionKey macKey initializationVector mac profileIdentifier fileDigest fileDigestAlgorithm".split(
      " ",
    ),
};

/** @throws a refusal of a body with missing, invalid or unknown properties */
export function checkCommit(body: unknown): Keys {
  const info = checkShape(onlyField(body, "fileEncryptionInfo"), "fileEncryptionInfo", encryptionInfo);
  const decoded = (name: string) => bytesOfBase64(info[name]) ?? Buffer.alloc(0);
  return {
    encryptionKey: decoded("encryptionKey"),
    macKey: decoded("macKey"),
    initializationVector: decoded("initializationVector"),
    mac: decoded("mac"),
    fileDigest: decoded("fileDigest"),
  };
}

/** Decrypts the uploaded payload and sets the file's content. @returns why it is refused, or an empty string */
export async function verifyPayload(tenant: Tenant, file: ContentFile, keys: Keys): Promise<string> {
  const { behaviour } = tenant;
  if (behaviour.commitFailures > 0) {
    behaviour.commitFailures--;
    return "a simulated failure";
  }
  const { blob } = file;
  const length = (blob.list ?? []).reduce((sum, segment) => sum + segment.length, 0);
  if (length !== file.sizeEncrypted) return `the payload has ${length} bytes, not ${file.sizeEncrypted}`;
  const found = await decrypt(blob, keys);
  if (typeof found === "string") return found;
  if (found.size !== file.size) return `the payload holds ${found.size} bytes, not ${file.size}`;
  if (!found.digest.equals(keys.fileDigest)) return "what the payload holds has another digest";
  const isKept = behaviour.keepsContent;
  if (!isKept) await rm(blob.path, { force: true });
  const readBytes = async () => {
    if (!isKept) throw new Error("this tenant keeps no content");
    return await plainBytes(blob, keys);
  };
  file.content = { size: found.size, sha256: found.digest.toString("hex"), bytes: readBytes };
  return "";
}

const headLength = 48;

/** @returns the size and digest of the decrypted content, or why the payload is refused */
async function decrypt(blob: Blob, keys: Keys): Promise<{ size: number; digest: Buffer } | string> {
  const hmac = createHmac("sha256", keys.macKey);
  const digest = createHash("sha256");
  let size = 0;
  const take = (plain: Buffer) => {
    digest.update(plain);
    size += plain.length;
  };
  const head = Buffer.alloc(headLength);
  const problem = await feedDecipher(blob, keys, head, (sealed) => hmac.update(sealed), take);
  if (!head.subarray(0, 32).equals(keys.mac)) return "the payload does not begin with the mac";
  if (!head.subarray(32).equals(keys.initializationVector))
    return "the payload has another initialization vector";
  if (!hmac.digest().equals(keys.mac)) return "the payload's mac is another one";
  return problem === "" ? { size, digest: digest.digest() } : problem;
}

async function plainBytes(blob: Blob, keys: Keys): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await feedDecipher(
    blob,
    keys,
    Buffer.alloc(headLength),
    () => undefined,
    (plain) => chunks.push(plain),
  );
  return Buffer.concat(chunks);
}

/** @returns why the payload does not decrypt, or an empty string */
async function feedDecipher(
  blob: Blob,
  keys: Keys,
  head: Buffer,
  onSealed: (sealed: Buffer) => unknown,
  onPlain: (plain: Buffer) => unknown,
): Promise<string> {
  const decipher = createDecipheriv("aes-256-cbc", keys.encryptionKey, keys.initializationVector);
  let at = 0;
  for await (const chunk of uploadedChunks(blob)) {
    const inHead = Math.min(Math.max(headLength - at, 0), chunk.length);
    chunk.copy(head, at, 0, inHead);
    onSealed(chunk.subarray(Math.min(Math.max(32 - at, 0), chunk.length)));
    onPlain(decipher.update(chunk.subarray(inHead)));
    at += chunk.length;
  }
  try {
    onPlain(decipher.final());
    return "";
  } catch {
    return "the payload does not decrypt";
  }
}

const chunkLength = 2 ** 20;

/** The uploaded bytes in the order of the block list. */
async function* uploadedChunks({ path, list = [] }: Blob): AsyncGenerator<Buffer> {
  const handle = await open(path, "r");
  try {
    for (const { at, length } of list)
      for (let done = 0; done < length; done += chunkLength) {
        const chunk = Buffer.allocUnsafe(Math.min(chunkLength, length - done));
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, at + done);
        if (bytesRead !== chunk.length) throw new Error("the blob's file was cut off");
        yield chunk;
      }
  } finally {
    await handle.close();
  }
}
