import { createHash } from "node:crypto";
import type { DownloadedRange } from "../../domain/audit/audit.ts";
import { UserError } from "../../domain/errors.ts";
import type { Html } from "../../html/html.ts";
import type { FileSource } from "../../store/files.ts";
import type { Encoding } from "./compression.ts";

/** What a handler answers; `send.ts` alone turns it into bytes on the wire. */
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

/**
 * Called when the first byte of an answer goes out.
 * @param range the part that was asked for
 * @returns what is called when this client was sent the last byte
 */
export type OnBegin = (range?: DownloadedRange) => (() => void) | undefined;

/** Bytes whose number and name are known before the first of them is made. */
export interface Download {
  readonly kind: "download";
  readonly type: string;
  /** Offered as an attachment of this name; shown in place without one. */
  readonly fileName?: string | undefined;
  readonly size: number;
  /** Names these bytes and no others; without its quotes. */
  readonly etag: string;
  readonly cacheControl?: string;
  readonly onBegin?: OnBegin;
  /** Set where `Accept-Encoding` decides: how the bytes are packed, null where they are not; then caches are told. */
  readonly encoding?: Encoding | null;
  /** Opens what the bytes come from; may take time or refuse, and is done before the first header goes out. */
  readonly open: () => Promise<OpenDownload>;
}

/** A file whose length nobody knows before its end: no range of it can be asked for. */
export interface Stream {
  readonly kind: "stream";
  readonly type: string;
  readonly fileName: string;
  readonly onBegin?: OnBegin;
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

/** A download under way: what its bytes come from stays open until it is closed, also where it is deleted meanwhile. */
export interface OpenDownload {
  /** The bytes from `start` up to `end`, which is not included; a chunk's buffer may be used again for the next. */
  readonly chunks: (start: number, end: number) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly close?: () => Promise<void>;
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
export function redirect(location: string, cookies: readonly string[] = []): Redirect {
  return { kind: "redirect", location, cookies };
}

/** A download of bytes that are in memory. */
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

/** A download of a file, opened when its first byte is asked for. @throws UserError "not-found" where it is gone by then */
export function fileDownload(
  open: () => Promise<FileSource | undefined>,
  options: Omit<Download, "kind" | "open">,
): Download {
  return {
    ...options,
    kind: "download",
    open: async () => {
      const source = await open();
      if (source === undefined) throw new UserError("not-found", "This file is not there any more.");
      return { chunks: (start, end) => readPieces(source, start, end), close: () => source.close() };
    },
  };
}

const pieceBytes = 256 * 1024;

async function* readPieces(source: FileSource, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += pieceBytes) yield source.read(at, Math.min(pieceBytes, end - at));
}

function etagOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
}
