import { createDecipheriv, createHash, createHmac } from "node:crypto";
import { type Answer, Refusal } from "./answers.ts";
import type { ReceivedRequest } from "./requests.ts";
import { base64, checkShape, type Fields, oneOf, onlyField, type Shape } from "./schema.ts";
import type { ContentFile, Tenant } from "./tenant.ts";

/** Azure block blobs: Put Block and Put Block List. */
export function answerStorage(tenant: Tenant, received: ReceivedRequest, bytes: Buffer): Answer {
  const { headers, method, query, number } = received;
  if (headers.authorization !== undefined) {
    tenant.leaks.push(received);
    throw new Refusal(400, "InvalidAuthenticationInfo", "A token was sent together with a signed address.");
  }
  const file = tenant.state.blobs.get(received.path.slice(1));
  if (!file) throw new Refusal(404, "BlobNotFound", "The specified blob does not exist.");
  const isBlock = query.get("comp") === "block";
  checkUri(file, query, isBlock);
  if (method !== "PUT" || headers["content-length"] === undefined)
    throw new Refusal(400, "UnsupportedHttpVerb", "PUT with a length is required.");
  if (isBlock) putBlock(file, received, bytes);
  else file.list = blockList(file, bytes.toString("utf8"));
  return { status: 201, headers: { "x-ms-request-id": String(number) } };
}

function checkUri({ uri }: ContentFile, query: URLSearchParams, isBlock: boolean): void {
  const refused = (why: string) =>
    new Refusal(403, "AuthenticationFailed", `Server failed to authenticate the request: ${why}`);
  if (uri === undefined || query.get("sig") !== uri.signature || query.get("sv") === null)
    throw refused("wrong signature.");
  if (uri.refusalsLeft-- > 0) throw refused("the signature is not valid yet.");
  if (uri.blocksLeft <= 0) throw refused("the signature has expired.");
  if (isBlock) uri.blocksLeft--;
}

function putBlock({ blocks }: ContentFile, { headers, query }: ReceivedRequest, bytes: Buffer): void {
  if (headers["x-ms-blob-type"] !== "BlockBlob")
    throw new Refusal(400, "MissingRequiredHeader", "x-ms-blob-type must be BlockBlob.");
  if (bytes.length === 0 || bytes.length > 100 * 2 ** 20)
    throw new Refusal(413, "RequestBodyTooLarge", "The block is empty or too large.");
  const id = query.get("blockid") ?? "";
  const [first = id] = blocks.keys();
  const [length, wanted] = [id, first].map((each) => Buffer.from(each, "base64").length);
  if (!/^[\w+/]{1,88}={0,2}$/.test(id) || length !== wanted)
    throw new Refusal(400, "InvalidBlobOrBlock", "The block id is no base64, or not as long as others.");
  blocks.set(id, bytes);
}

function blockList({ blocks }: ContentFile, text: string): Buffer[] {
  const pattern =
    /^<\?xml version="1.0" encoding="utf-8"\?><BlockList>((?:<Latest>[^<]+<\/Latest>)+)<\/BlockList>$/;
  const [, items] = pattern.exec(text) ?? [];
  if (items === undefined) throw new Refusal(400, "InvalidXmlDocument", "XML specified is not valid.");
  return [...items.matchAll(/<Latest>([^<]+)/g)].map(([, id = ""]) => {
    const bytes = blocks.get(id);
    if (!bytes) throw new Refusal(400, "InvalidBlockList", "The specified block list is invalid.");
    return bytes;
  });
}

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

/** Decrypts the uploaded payload and sets the file's content. @returns whether it is as `info` and the file say */
export function verifyPayload({ behaviour }: Tenant, file: ContentFile, info: Fields): boolean {
  if (behaviour.commitFailures-- > 0) return false;
  const payload = Buffer.concat(file.list ?? []);
  const of = (name: string) => Buffer.from(String(info[name]), "base64");
  const iv = of("initializationVector");
  const mac = createHmac("sha256", of("macKey")).update(payload.subarray(32)).digest();
  const isSealed = mac.equals(of("mac")) && payload.subarray(0, 48).equals(Buffer.concat([mac, iv]));
  if (!isSealed || payload.length !== file.sizeEncrypted) return false;
  const plain = decrypted(payload.subarray(48), of("encryptionKey"), iv);
  const digest = createHash("sha256").update(plain).digest();
  if (plain.length !== file.size || !digest.equals(of("fileDigest"))) return false;
  if (!behaviour.keepsContent) file.blocks.clear();
  if (!behaviour.keepsContent) file.list = [];
  file.content = { size: plain.length, sha256: digest.toString("hex") };
  return true;
}

/** @returns nothing when the key is wrong */
function decrypted(sealed: Buffer, key: Buffer, iv: Buffer): Buffer {
  const decipher = createDecipheriv("aes-256-cbc", key, iv);
  try {
    return Buffer.concat([decipher.update(sealed), decipher.final()]);
  } catch {
    return Buffer.alloc(0);
  }
}
