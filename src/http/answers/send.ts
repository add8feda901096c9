import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../../app.ts";
import type { BoundedLines } from "../../services/limited-log.ts";
import type { Quota } from "../../workers/admission.ts";
import type { Limits } from "../requests/limits.ts";
import { senderOf } from "../sender.ts";
import { answerHeaders } from "./answer-headers.ts";
import { encodingFor, leastPackedLength, packPage } from "./compression.ts";
import { requestLine } from "./errors.ts";
import type { Download, OnBegin, OpenDownload, Reply, Stream, TextReply } from "./reply.ts";

/** What an answer may hold while it is being sent, and how slow its client may be. */
interface Sending {
  readonly app: Pick<App, "config">;
  readonly limits: Limits;
  readonly bodyBytes: Quota;
  readonly downloads: Quota;
  readonly lines: BoundedLines;
}

/**
 * The one place that touches a response. A body that fails after the headers are out destroys the
 * socket: a part of a download must not look whole.
 * @throws UserError "busy" before anything is out, where too much is being sent already
 */
export async function send(
  sending: Sending,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
): Promise<void> {
  for (const [name, value] of Object.entries(answerHeaders(sending.app.config))) {
    response.setHeader(name, value);
  }
  if (reply.kind === "download") return sendDownload(sending, request, response, reply);
  response.setHeader("Cache-Control", "no-store");
  if (reply.kind === "redirect") {
    if (reply.cookies?.length) response.setHeader("Set-Cookie", reply.cookies);
    response.writeHead(303, { Location: reply.location, "Content-Length": 0 }).end();
    return;
  }
  if (reply.kind === "stream") return sendStream(sending, request, response, reply);
  return sendText(sending, request, response, reply);
}

/** Bodies up to this size take nothing of the quota: an error must get out when none is left. */
const freeBytes = 16 * 1024;

async function sendText(
  { limits, bodyBytes, lines }: Sending,
  request: IncomingMessage,
  response: ServerResponse,
  reply: TextReply,
): Promise<void> {
  const { address } = senderOf(request);
  lines.sayRefused(reply.status, reply.refusal ?? "", `${requestLine(request)} from ${address}`);
  const isPackable = reply.body.length >= leastPackedLength;
  const encoding = isPackable ? encodingFor(request.headers["accept-encoding"]) : undefined;
  const plain = Buffer.from(reply.body, "utf8");
  const body = encoding === undefined ? plain : await packPage(plain, encoding);
  const headers = {
    "Content-Type": reply.type,
    "Content-Length": body.length,
    ...(isPackable ? { Vary: "Accept-Encoding" } : {}),
    ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
    ...reply.headers,
  };
  const held = request.method === "HEAD" || body.length <= freeBytes ? 0 : body.length;
  await bodyBytes.holding(address, held, async () => {
    response.writeHead(reply.status, headers);
    if (request.method === "HEAD") response.end();
    else await writeAll(response, [body], limits.stalledMs);
  });
}

async function sendDownload(
  { limits, downloads }: Sending,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Download,
): Promise<void> {
  const etag = `"${reply.etag}"`;
  response.setHeader("ETag", etag);
  response.setHeader("Accept-Ranges", "bytes");
  if (reply.encoding !== undefined) response.setHeader("Vary", "Accept-Encoding");
  response.setHeader("Cache-Control", reply.cacheControl ?? cachingFor(request));
  if (isNotModified(request.headers, etag)) {
    response.writeHead(304).end();
    return;
  }
  const range = requestedRange(request.headers, reply.size, etag);
  if (range === "unsatisfiable") {
    response.writeHead(416, { "Content-Range": `bytes */${reply.size}`, "Content-Length": 0 }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: reply.size };
  response.setHeader("Content-Type", reply.type);
  response.setHeader("Content-Length", end - start);
  if (reply.encoding) response.setHeader("Content-Encoding", reply.encoding);
  if (reply.fileName !== undefined) response.setHeader("Content-Disposition", dispositionOf(reply.fileName));
  if (range !== undefined) response.setHeader("Content-Range", `bytes ${start}-${end - 1}/${reply.size}`);
  response.statusCode = range === undefined ? 200 : 206;
  if (request.method === "HEAD" || start === end) {
    response.end();
    return;
  }
  await downloads.holding(undefined, 1, async () => {
    const download = await reply.open();
    try {
      response.flushHeaders();
      const isWhole = end - start === reply.size;
      const part = isWhole ? undefined : { first: start, last: end - 1, size: reply.size };
      const onBegin = () => reply.onBegin?.(part);
      const onWhole = await writeAll(response, download.chunks(start, end), limits.stalledMs, onBegin);
      if (end === reply.size) onWhole?.();
    } finally {
      await download.close?.();
    }
  });
}

/** A stream that breaks off ends the connection: what is chunked does not look whole then. */
async function sendStream(
  { limits, downloads }: Sending,
  request: IncomingMessage,
  response: ServerResponse,
  { type, fileName, chunks, onBegin }: Stream,
): Promise<void> {
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Disposition", dispositionOf(fileName));
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  await downloads.holding(undefined, 1, async () => {
    const onWhole = await writeAll(response, chunks(), limits.stalledMs, onBegin);
    onWhole?.();
  });
}

/** A cache that many share keeps nothing that was opened by a session, a token or a link. */
function cachingFor(request: IncomingMessage): string {
  return senderOf(request).identity.kind === "anyone" ? "no-cache" : "private, no-cache";
}

/** Bytes of a write: so few that a slow client takes them in time. */
const writeBytes = 256 * 1024;

/**
 * Writes one piece after the other, each only when the one before has left: a chunk's buffer is used again then.
 * @param stalledMs a client that does not take a piece in this time has its connection closed
 * @returns what `onBegin` returned when the first of them went out
 * @throws when the client leaves or is too slow; the source is closed in any case
 */
async function writeAll(
  response: ServerResponse,
  chunks: ReturnType<OpenDownload["chunks"]>,
  stalledMs: number,
  onBegin?: OnBegin,
): Promise<ReturnType<OnBegin>> {
  let isBegun = false;
  let onWhole: ReturnType<OnBegin>;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += writeBytes) {
      if (!isBegun) onWhole = onBegin?.();
      isBegun = true;
      await write(response, chunk.subarray(at, at + writeBytes), stalledMs);
    }
  }
  response.end();
  return onWhole;
}

async function write(response: ServerResponse, piece: Uint8Array, stalledMs: number): Promise<void> {
  let fail: (error: Error) => void = () => {};
  const left = () =>
    fail(Object.assign(new Error("the client left"), { code: "ERR_STREAM_PREMATURE_CLOSE" }));
  const slow = setTimeout(() => fail(new Error("the client is too slow")), stalledMs);
  response.once("close", left);
  try {
    await new Promise<void>((resolve, reject) => {
      fail = reject;
      response.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    clearTimeout(slow);
    response.off("close", left);
  }
}

/** Whether the client has these bytes already (RFC 9110, 13.1.2). @param etag with its quotes */
export function isNotModified(headers: IncomingHttpHeaders, etag: string): boolean {
  const known = headers["if-none-match"]?.trim();
  if (known === undefined) return false;
  return known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

/** From `start` up to `end`, which is not included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The one range that is asked for; undefined when the whole is to be sent: no range, several, one in
 * another unit, or one of bytes that have changed meanwhile (RFC 9110, 14.2 and 13.1.5). Dates are no
 * validators here: two packages made within one second differ.
 * @param etag with its quotes
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  size: number,
  etag: string,
): ByteRange | "unsatisfiable" | undefined {
  const condition = headers["if-range"];
  if (condition !== undefined && String(condition).trim() !== etag) return undefined;
  const range = headers.range?.replaceAll(" ", "") ?? "";
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/i.exec(range) ?? [];
  if (first === "" && last === "") return undefined;
  // Without a beginning, so many of the last bytes are asked for.
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(Number(last) + 1, size);
  if (first !== "" && last !== "" && Number(last) < start) return undefined;
  return start < size ? { start, end } : "unsatisfiable";
}

/** An attachment's name, for every client: in ASCII, and in UTF-8 where that is more (RFC 6266). */
export function dispositionOf(fileName: string): string {
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\/%]/g, "_");
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
