import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../../app.ts";
import type { Config } from "../../config.ts";
import { getOrAdd, memoize } from "../../domain/collections.ts";
import type { LimitedLog } from "../../domain/flood-limit.ts";
import type { Quota } from "../../workers/admission.ts";
import { addBasePath, basePath, publicPath } from "../base-path.ts";
import { senderOf } from "../sender.ts";
import { acceptsGzip, compressPage, minCompressedLength } from "./compression.ts";
import { requestLine } from "./errors.ts";
import type { Download, OpenDownload, Reply, Stream, TextReply } from "./reply.ts";

const always: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** One year, and not for subdomains: if Platen is at example.com, printer.example.com may need plain http. */
const onHttps = { ...always, "Strict-Transport-Security": "max-age=31536000" };

/** The headers of every answer. */
function answerHeaders({ publicUrl }: Pick<Config, "publicUrl">): Readonly<Record<string, string>> {
  return publicUrl?.startsWith("https:") ? onHttps : always;
}

interface SendContext {
  readonly app: Pick<App, "config">;
  readonly bodyBytes: Quota;
  readonly log: LimitedLog;
}

/**
 * Writes a reply to a response. If this fails after the headers, the caller must close the connection, because a part of
 * a download must not look complete.
 * @throws UserError "busy" before anything is sent, if too much is being sent already
 */
export async function send(
  sending: SendContext,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
): Promise<void> {
  for (const [name, value] of Object.entries(answerHeaders(sending.app.config))) {
    response.setHeader(name, value);
  }
  if (reply.kind === "download") return sendDownload(request, response, reply);
  response.setHeader("Cache-Control", "no-store");
  if (reply.kind === "redirect") {
    if (reply.cookies?.length) response.setHeader("Set-Cookie", reply.cookies);
    const location = publicPath(reply.location, basePath(sending.app.config));
    response.writeHead(303, { Location: location, "Content-Length": 0 }).end();
    return;
  }
  if (reply.kind === "stream") return sendStream(request, response, reply);
  return sendText(sending, request, response, reply);
}

/** Bodies up to this size need no quota, so that errors can be sent when none is left. */
const freeBytes = 16 * 1024;

async function sendText(
  { app, bodyBytes, log }: SendContext,
  request: IncomingMessage,
  response: ServerResponse,
  reply: TextReply,
): Promise<void> {
  const { address } = senderOf(request);
  const { status, refusal = "" } = reply;
  if (status === 429 || status === 503)
    log(`refused with ${status}: ${refusal} (${requestLine(request)} from ${address})`, refusal);
  const base = basePath(app.config);
  const isLong = reply.body.length >= minCompressedLength;
  const isCompressed = isLong && acceptsGzip(request.headers["accept-encoding"]);
  const body = await getOrAdd(bodiesOf(reply), isCompressed, () => bodyOf(reply, base, isCompressed));
  const headers = {
    "Content-Type": reply.type,
    "Content-Length": body.length,
    ...(isLong ? { Vary: "Accept-Encoding" } : {}),
    ...(isCompressed ? { "Content-Encoding": "gzip" } : {}),
    ...Object.fromEntries(
      Object.entries(reply.headers ?? {}).map(([name, value]) => [name, publicPath(value, base)]),
    ),
  };
  const quotaBytes = request.method === "HEAD" || body.length <= freeBytes ? 0 : body.length;
  await bodyBytes.runWith(address, quotaBytes, async () => {
    response.writeHead(status, headers);
    if (request.method === "HEAD") response.end();
    else await writeAll(response, [body]);
  });
}

/** The bodies of a reply, compressed and not. Requests that share a reply share the bytes. */
const bodiesOf = memoize((_: TextReply) => new Map<boolean, Promise<Uint8Array>>());

async function bodyOf({ type, body }: TextReply, base: string, isCompressed: boolean) {
  const plain = Buffer.from(type.startsWith("text/html") ? addBasePath(body, base) : body, "utf8");
  return isCompressed ? compressPage(plain) : plain;
}

async function sendDownload(
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
  if (request.method === "HEAD" || start === end) response.end();
  else await sendPart(response, reply, start, end);
}

async function sendPart(
  response: ServerResponse,
  reply: Download,
  start: number,
  end: number,
): Promise<void> {
  const download = await reply.open();
  try {
    response.flushHeaders();
    await writeAll(response, download.chunks(start, end));
    if (end === reply.size) reply.onSent?.();
  } finally {
    await download.close?.();
  }
}

async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  { type, fileName, chunks, onSent }: Stream,
): Promise<void> {
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Disposition", dispositionOf(fileName));
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  await writeAll(response, chunks());
  onSent?.();
}

/** Shared caches must not keep answers that need a session, a token or a link. */
function cachingFor(request: IncomingMessage): string {
  return senderOf(request).identity.kind === "anyone" ? "no-cache" : "private, no-cache";
}

/** The size of one write: a slow client can receive it within `idleMs`. */
const writeBytes = 256 * 1024;

/**
 * Writes chunks in order. The next chunk is read after the previous one was sent, because its buffer is reused.
 * @throws Error when the client leaves, or Node ended the connection because it was too slow
 */
async function writeAll(response: ServerResponse, chunks: ReturnType<OpenDownload["chunks"]>): Promise<void> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += writeBytes)
      await write(response, chunk.subarray(at, at + writeBytes));
  }
  response.end();
}

function write(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const left = () =>
      reject(Object.assign(new Error("the client left"), { code: "ERR_STREAM_PREMATURE_CLOSE" }));
    response.once("close", left);
    response.write(piece, (error) => {
      response.off("close", left);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Whether the client already has these bytes (RFC 9110, 13.1.2). @param etag with its quotes */
export function isNotModified(headers: IncomingHttpHeaders, etag: string): boolean {
  const known = headers["if-none-match"]?.trim();
  if (known === undefined) return false;
  return known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * The requested range. Undefined if the whole is to be sent: for no range, several ranges, another unit, or bytes that
 * have changed since (RFC 9110, 14.2 and 13.1.5). A date in `If-Range` counts as changed, because packages made within
 * one second may differ.
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
  // `bytes=-500` requests the last 500 bytes.
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(Number(last) + 1, size);
  if (first !== "" && last !== "" && Number(last) < start) return undefined;
  return start < size ? { start, end } : "unsatisfiable";
}

/** The `Content-Disposition` of an attachment, with its name in ASCII and in UTF-8 (RFC 6266). */
export function dispositionOf(fileName: string): string {
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\/%]/g, "_");
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
