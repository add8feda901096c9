import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../../app.ts";
import { nameOf } from "../../domain/access.ts";
import { UserError } from "../../domain/errors.ts";
import { siteOf } from "../../domain/site.ts";
import type { BoundedLines } from "../../services/bounded-lines.ts";
import { askerOf } from "../access/asker.ts";
import type { Limits, Quotas } from "../requests/limits.ts";
import { answerHeaders } from "./answer-headers.ts";
import {
  type Encoding,
  encodingFor,
  keepPacked,
  leastPackedLength,
  packedBefore,
  packPage,
} from "./compression.ts";
import { requestLine } from "./errors.ts";
import { dispositionOf, isNotModified, requestedRange } from "./ranges.ts";
import type { Download, OnBegin, Reply, Stream, TextReply } from "./reply.ts";
import type { SentParts } from "./sent-parts.ts";
import { writeAll } from "./write.ts";

/** What an answer may hold while it is being sent, and how slow its client may be. */
interface Sending {
  readonly app: Pick<App, "config">;
  readonly limits: Limits;
  readonly quotas: Quotas;
  readonly sentParts: SentParts;
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
  if ("cookies" in reply && reply.cookies !== undefined && reply.cookies.length > 0)
    response.setHeader("Set-Cookie", reply.cookies);
  if (reply.kind === "redirect") {
    response.writeHead(303, { Location: reply.location, "Content-Length": 0 }).end();
    return;
  }
  if (reply.kind === "stream") return sendStream(sending, request, response, reply);
  return sendText(sending, request, response, reply);
}

/** Bodies up to this size take nothing of the quota: an error must get out when none is left. */
const freeBytes = 16 * 1024;

async function sendText(
  { limits, quotas, lines }: Sending,
  request: IncomingMessage,
  response: ServerResponse,
  reply: TextReply,
): Promise<void> {
  const client = askerOf(request).address;
  lines.sayRefused(reply.status, reply.refusal ?? "", `${requestLine(request)} from ${client}`);
  const take = (bytes: Uint8Array) =>
    bytes.length <= freeBytes ? free : quotas.pageBytes.take(client, bytes.length);
  const isPackable = reply.body.length >= leastPackedLength;
  const encoding = isPackable ? encodingFor(request.headers["accept-encoding"]) : undefined;
  const body = packedBefore(reply.body, encoding) ?? (await sharedBytes(reply, encoding, take));
  const headers = {
    "Content-Type": reply.type,
    "Content-Length": body.length,
    ...(isPackable ? { Vary: "Accept-Encoding" } : {}),
    ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
    ...reply.headers,
  };
  if (request.method === "HEAD" || body.length <= freeBytes) {
    response.writeHead(reply.status, headers).end(request.method === "HEAD" ? undefined : body);
    return;
  }
  await holding(take(body), () => {
    response.writeHead(reply.status, headers);
    return writeAll(response, [body], limits.stalledMs);
  });
}

type Take = (bytes: Uint8Array) => (() => void) | undefined;

/** What is being made of answers that several clients get, by the encoding. */
const sharedPacks = new WeakMap<TextReply, Map<Encoding | undefined, Promise<Uint8Array>>>();

/** What goes over the wire of an answer, made once for all who get the same one. */
async function sharedBytes(
  reply: TextReply,
  encoding: Encoding | undefined,
  take: Take,
): Promise<Uint8Array> {
  const packs = sharedPacks.get(reply) ?? new Map<Encoding | undefined, Promise<Uint8Array>>();
  sharedPacks.set(reply, packs);
  const known = packs.get(encoding);
  if (known !== undefined) {
    // What failed for another client, which holds too much, need not fail for this one.
    return known.catch(() => bytesOf(reply.body, encoding, take));
  }
  const made = bytesOf(reply.body, encoding, take);
  packs.set(encoding, made);
  return made;
}

/** What goes over the wire of a text; while it is packed, it takes its share of the quota. */
async function bytesOf(text: string, encoding: Encoding | undefined, take: Take): Promise<Uint8Array> {
  const plain = Buffer.from(text, "utf8");
  if (encoding === undefined) return plain;
  const packed = await holding(take(plain), () => packPage(plain, encoding));
  keepPacked(text, encoding, packed);
  return packed;
}

/** Gives nothing back. */
function free(): void {}

async function sendDownload(
  { limits, quotas, sentParts }: Sending,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Download,
): Promise<void> {
  const etag = `"${reply.etag}"`;
  const isResumable = reply.isResumable !== false;
  setValidators(response, reply, etag, isResumable);
  response.setHeader("Cache-Control", reply.cacheControl ?? cachingFor(request));
  if (isNotModified(request.headers, etag)) {
    response.writeHead(304).end();
    return;
  }
  const range = isResumable ? requestedRange(request.headers, reply.size, etag) : undefined;
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
  const quota = reply.isEncrypted ? quotas.encryptedDownloads : quotas.downloads;
  await holding(quota.take(askerOf(request).address), async () => {
    const download = await reply.open();
    const progress: Progress = { sent: start };
    try {
      response.flushHeaders();
      await writeAll(response, download.chunks(start, end), limits.stalledMs, {
        begin: () => {
          progress.whole = reply.onBegin?.(partOf({ start, end }, reply.size));
        },
        left: (bytes) => {
          progress.sent += bytes;
        },
      });
    } finally {
      await download.close?.();
      const { address, identity } = askerOf(request);
      const key = JSON.stringify([siteOf(address), nameOf(identity), etag]);
      const { sent, whole } = progress;
      if (whole !== undefined && sentParts.add(key, { start, end: sent }, reply.size)) whole();
    }
  });
}

/** How far an answer has come. */
interface Progress {
  sent: number;
  /** Is called when the client was sent all of it. */
  whole?: ReturnType<OnBegin>;
}

/** Undefined where it is the whole. */
function partOf({ start, end }: { readonly start: number; readonly end: number }, size: number) {
  return start === 0 && end === size ? undefined : { first: start, last: end - 1, size };
}

/** A stream that breaks off ends the connection: what is chunked does not look whole then. */
async function sendStream(
  { limits, quotas }: Sending,
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
  await holding(quotas.downloads.take(askerOf(request).address), async () => {
    const progress: Progress = { sent: 0 };
    const begin = () => {
      progress.whole = onBegin?.();
    };
    await writeAll(response, chunks(), limits.stalledMs, { begin });
    progress.whole?.();
  });
}

/** A cache that many share keeps nothing that was opened by a session, a token or a link. */
function cachingFor(request: IncomingMessage): string {
  return askerOf(request).identity.kind === "anyone" ? "no-cache" : "private, no-cache";
}

/** What a client is told also where it has the bytes already. */
function setValidators(response: ServerResponse, reply: Download, etag: string, isResumable: boolean): void {
  response.setHeader("ETag", etag);
  response.setHeader("Accept-Ranges", isResumable ? "bytes" : "none");
  if (reply.encoding !== undefined) response.setHeader("Vary", "Accept-Encoding");
}

async function holding<T>(release: (() => void) | undefined, work: () => Promise<T>): Promise<T> {
  if (release === undefined) {
    throw new UserError("busy", "Too much is being downloaded at the moment. Try again in a few seconds.");
  }
  try {
    return await work();
  } finally {
    release();
  }
}
