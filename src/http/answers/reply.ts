import { createHash } from "node:crypto";
import { UserError } from "../../domain/errors.ts";
import type { Html } from "../../html/html.ts";
import type { FileSource } from "../../store/files.ts";

/** A handler's answer. Only `send.ts` writes it to a response. */
export type Reply = TextReply | Redirect | Download | Stream;

export interface TextReply {
  readonly kind: "text";
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** Why the request was refused, for the log. */
  readonly refusal?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Redirect {
  readonly kind: "redirect";
  readonly location: string;
  /** `Set-Cookie` headers. */
  readonly cookies?: readonly string[];
}

/** An answer whose size and ETag are known before its first byte is made. */
export interface Download {
  readonly kind: "download";
  readonly type: string;
  /** The name of the attachment; without one, the browser shows the content in place. */
  readonly fileName?: string | undefined;
  readonly size: number;
  /** Identifies these bytes. Without the quotes of the header. */
  readonly etag: string;
  readonly cacheControl?: string;
  /** Called after the last byte was sent. */
  readonly onSent?: () => void;
  /** The bytes' encoding, or null for none, if they depend on `Accept-Encoding`: the answer then has `Vary`. */
  readonly encoding?: "gzip" | null;
  /** Opens the source of the bytes before the headers are sent, so an error can still become an answer. */
  readonly open: () => Promise<OpenDownload>;
}

/** A download of unknown length. Clients cannot request ranges of it. */
export interface Stream {
  readonly kind: "stream";
  readonly type: string;
  readonly fileName: string;
  /** Called after the last byte was sent. */
  readonly onSent?: () => void;
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

/** A download being sent. Its source stays open until `close`, even if the file is deleted meanwhile. */
export interface OpenDownload {
  /** The bytes from `start` up to `end`, exclusive. A chunk's buffer may be reused for the next chunk. */
  readonly chunks: (start: number, end: number) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly close?: () => Promise<void>;
}

export function htmlReply(body: Html, status = 200): TextReply {
  return { kind: "text", status, type: "text/html; charset=utf-8", body: body.toString() };
}

export function textReply(status: number, line: string, headers: Record<string, string> = {}): TextReply {
  return { kind: "text", status, type: "text/plain; charset=utf-8", body: `${line}\n`, headers };
}

/** Status 204, which has no body. */
export function noContent(): TextReply {
  return { kind: "text", status: 204, type: "text/plain; charset=utf-8", body: "" };
}

export function jsonReply(value: unknown): TextReply {
  return { kind: "text", status: 200, type: "application/json", body: JSON.stringify(value) };
}

/** Redirects the browser to another page with status 303. */
export function redirect(location: string, cookies: readonly string[] = []): Redirect {
  return { kind: "redirect", location, cookies };
}

export function bytesDownload(
  bytes: Uint8Array,
  { etag = etagOf(bytes), ...options }: Omit<Download, "kind" | "size" | "etag" | "open"> & { etag?: string },
): Download {
  return {
    ...options,
    kind: "download",
    size: bytes.length,
    etag,
    open: async () => ({ chunks: (start, end) => [bytes.subarray(start, end)] }),
  };
}

/** A download of a file. Its `open` throws a UserError "not-found" if the file no longer exists. */
export function fileDownload(
  open: () => Promise<FileSource | undefined>,
  options: Omit<Download, "kind" | "open">,
): Download {
  return {
    ...options,
    kind: "download",
    open: async () => {
      const source = await open();
      if (source === undefined) throw new UserError("not-found", "This file no longer exists.");
      return { chunks: (start, end) => readChunks(source, start, end), close: () => source.close() };
    },
  };
}

const chunkBytes = 256 * 1024;

async function* readChunks(source: FileSource, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += chunkBytes) yield source.read(at, Math.min(chunkBytes, end - at));
}

function etagOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
}
