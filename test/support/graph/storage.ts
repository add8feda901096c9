import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { type Answer, Refusal } from "./answers.ts";
import type { ReceivedRequest } from "./requests.ts";
import { bytesOfBase64 } from "./schema.ts";
import type { Blob, Segment } from "./state.ts";
import type { Tenant } from "./tenant.ts";

/** Azure block blobs: Put Block and Put Block List. */
export async function answerStorage(
  tenant: Tenant,
  received: ReceivedRequest,
  bytes: Buffer,
): Promise<Answer> {
  const { headers, method, query } = received;
  if (headers.authorization !== undefined) {
    tenant.leaks.push(received);
    throw new Refusal(400, "InvalidAuthenticationInfo", "A token was sent together with a signed address.");
  }
  const blob = tenant.state.blobs.get(received.path.slice(1))?.blob;
  if (!blob) throw new Refusal(404, "BlobNotFound", "The specified blob does not exist.");
  const comp = query.get("comp");
  checkUri(blob, query, comp === "block");
  if (method !== "PUT") throw new Refusal(405, "UnsupportedHttpVerb", `${method} is not supported.`);
  if (headers["content-length"] === undefined)
    throw new Refusal(411, "MissingContentLengthHeader", "Content-Length was not specified.");
  if (comp === "block") await putBlock(blob, received, bytes);
  else if (comp === "blocklist") putBlockList(blob, bytes);
  else throw new Refusal(400, "InvalidQueryParameterValue", "comp must be block or blocklist.");
  return {
    status: 201,
    headers: { "x-ms-request-id": String(received.number), "x-ms-version": "2021-08-06" },
  };
}

function checkUri({ uri }: Blob, query: URLSearchParams, isBlock: boolean): void {
  const refused = (why: string) =>
    new Refusal(403, "AuthenticationFailed", `Server failed to authenticate the request: ${why}`);
  if (!uri || query.get("sig") !== uri.signature || query.get("sv") === null)
    throw refused("wrong signature.");
  if (uri.refusalsLeft-- > 0) throw refused("the signature is not valid yet.");
  if (Date.now() >= uri.expires || uri.blocksLeft <= 0) throw refused("the signature has expired.");
  if (isBlock) uri.blocksLeft--;
}

const longestBlock = 100 * 2 ** 20;

async function putBlock(blob: Blob, { headers, query }: ReceivedRequest, bytes: Buffer): Promise<void> {
  if (headers["x-ms-blob-type"] !== "BlockBlob")
    throw new Refusal(400, "MissingRequiredHeader", "x-ms-blob-type must be BlockBlob.");
  const id = query.get("blockid") ?? "";
  checkBlockId(blob, id);
  if (bytes.length === 0) throw new Refusal(400, "InvalidHeaderValue", "A block must not be empty.");
  if (bytes.length > longestBlock) throw new Refusal(413, "RequestBodyTooLarge", "The block is too large.");
  const at = blob.end;
  blob.end += bytes.length;
  const handle = await open(blob.path, constants.O_CREAT | constants.O_RDWR, 0o600);
  try {
    await handle.write(bytes, 0, bytes.length, at);
  } finally {
    await handle.close();
  }
  blob.blocks.set(id, { at, length: bytes.length });
}

function checkBlockId({ blocks }: Blob, id: string): void {
  const length = bytesOfBase64(id)?.length ?? 0;
  if (length === 0 || length > 64)
    throw new Refusal(400, "InvalidQueryParameterValue", `The block id '${id}' is no base64.`);
  const [first] = blocks.keys();
  if (first !== undefined && Buffer.from(first, "base64").length !== length)
    throw new Refusal(400, "InvalidBlobOrBlock", "The block id is not as long as those before it.");
  if (blocks.size >= 50_000 && !blocks.has(id))
    throw new Refusal(409, "BlockCountExceedsLimit", "There are too many blocks.");
}

const head = '<?xml version="1.0" encoding="utf-8"?>';

function putBlockList(blob: Blob, bytes: Buffer): void {
  const text = bytes.toString("utf8");
  const list = text.slice(head.length).trim();
  if (!text.startsWith(head) || !list.startsWith("<BlockList>") || !list.endsWith("</BlockList>"))
    throw badXml();
  const ids = list.slice("<BlockList>".length, -"</BlockList>".length).split("</Latest>");
  if (ids.pop()?.trim() !== "") throw badXml();
  blob.list = ids.map((id) => findSegment(blob, id.trim()));
}

function findSegment({ blocks }: Blob, id: string): Segment {
  if (!id.startsWith("<Latest>")) throw badXml();
  const segment = blocks.get(id.slice("<Latest>".length));
  if (!segment) throw new Refusal(400, "InvalidBlockList", "The specified block list is invalid.");
  return segment;
}

function badXml(): Refusal {
  return new Refusal(400, "InvalidXmlDocument", "XML specified is not syntactically valid.");
}
