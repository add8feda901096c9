import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Html } from "../html/html.ts";
import { dispositionOf, isNotModified, requestedRange } from "./ranges.ts";

/** What a handler answers; `send` alone turns it into bytes on the wire. */
export type Reply = TextReply | Redirect | Download;

export interface TextReply {
  readonly kind: "text";
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Redirect {
  readonly kind: "redirect";
  readonly location: string;
}

/** Bytes whose number and name are known before the first of them is made. */
export interface Download {
  readonly kind: "download";
  readonly type: string;
  /** Offered as an attachment of this name; shown in place without one. */
  readonly fileName?: string | undefined;
  readonly size: number;
  /** Names these bytes and no others; without its quotes. */
  readonly etag: string;
  /** UTC, milliseconds since 1970. */
  readonly modifiedAt?: number | undefined;
  readonly cacheControl?: string;
  /** Work that may be refused, done before the first header goes out. */
  readonly prepare?: () => Promise<void>;
  /** The bytes from `start` up to `end`, which is not included; each chunk counts until the next is asked for. */
  readonly chunks: (start: number, end: number) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export function htmlReply(body: Html, status = 200): TextReply {
  return { kind: "text", status, type: "text/html; charset=utf-8", body: body.toString() };
}

export function textReply(status: number, line: string, headers: Record<string, string> = {}): TextReply {
  return { kind: "text", status, type: "text/plain; charset=utf-8", body: `${line}\n`, headers };
}

export function jsonReply(value: unknown): TextReply {
  return { kind: "text", status: 200, type: "application/json", body: JSON.stringify(value) };
}

/** Sends the browser to another page, which it then asks for with GET. */
export function redirect(location: string): Redirect {
  return { kind: "redirect", location };
}

/** A download of bytes that are in memory. */
export function bytesDownload(
  bytes: Uint8Array,
  options: Omit<Download, "kind" | "size" | "etag" | "chunks">,
): Download {
  const etag = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
  return {
    ...options,
    kind: "download",
    size: bytes.length,
    etag,
    chunks: (start, end) => [bytes.subarray(start, end)],
  };
}

const securityHeaders = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/**
 * The one place that touches a response. A body that fails after the headers are out destroys the
 * socket: half a download must not look whole.
 */
export async function send(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  if (reply.kind === "download") return sendDownload(request, response, reply);
  response.setHeader("Cache-Control", "no-store");
  if (reply.kind === "redirect") {
    response.writeHead(303, { Location: reply.location, "Content-Length": 0 }).end();
    return;
  }
  const body = Buffer.from(reply.body, "utf8");
  const headers = { "Content-Type": reply.type, "Content-Length": body.length, ...reply.headers };
  response.writeHead(reply.status, headers).end(request.method === "HEAD" ? undefined : body);
}

async function sendDownload(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Download,
): Promise<void> {
  const validators = { etag: `"${reply.etag}"`, modifiedAt: reply.modifiedAt };
  response.setHeader("ETag", validators.etag);
  response.setHeader("Accept-Ranges", "bytes");
  response.setHeader("Cache-Control", reply.cacheControl ?? "no-cache");
  if (reply.modifiedAt !== undefined)
    response.setHeader("Last-Modified", new Date(reply.modifiedAt).toUTCString());
  if (isNotModified(request.headers, validators)) {
    response.writeHead(304).end();
    return;
  }
  const range = requestedRange(request.headers, reply.size, validators);
  if (range === "unsatisfiable") {
    response.writeHead(416, { "Content-Range": `bytes */${reply.size}`, "Content-Length": 0 }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: reply.size };
  response.setHeader("Content-Type", reply.type);
  response.setHeader("Content-Length", end - start);
  if (reply.fileName !== undefined) response.setHeader("Content-Disposition", dispositionOf(reply.fileName));
  if (range !== undefined) response.setHeader("Content-Range", `bytes ${start}-${end - 1}/${reply.size}`);
  response.statusCode = range === undefined ? 200 : 206;
  if (request.method === "HEAD" || start === end) {
    response.end();
    return;
  }
  await reply.prepare?.();
  response.flushHeaders();
  await writeAll(response, reply.chunks(start, end));
}

/**
 * Writes one chunk after the other, each only when the one before has left: its buffer is used again then.
 * @throws when the client leaves; the source is closed in any case
 */
async function writeAll(response: ServerResponse, chunks: ReturnType<Download["chunks"]>): Promise<void> {
  let leave: (error: Error) => void = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = reject;
  });
  left.catch(() => {});
  response.once("close", () =>
    leave(Object.assign(new Error("the client left"), { code: "ERR_STREAM_PREMATURE_CLOSE" })),
  );
  for await (const chunk of chunks) {
    const written = new Promise<void>((resolve, reject) => {
      response.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
    await Promise.race([written, left]);
  }
  response.end();
}
