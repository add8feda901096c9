import { type Answer, Refusal } from "./answers.ts";
import type { ReceivedRequest } from "./requests.ts";
import type { ContentFile } from "./state.ts";
import type { Tenant } from "./tenant.ts";

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
  if (!/^[\w+/]{1,88}={0,2}$/.test(id) || id.length !== first.length)
    throw new Refusal(
      400,
      "InvalidBlobOrBlock",
      "The block id is no base64, or not as long as those before it.",
    );
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
