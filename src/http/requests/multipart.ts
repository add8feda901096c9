import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import busboy from "busboy";
import { UserError } from "../../domain/errors.ts";
import { ticketLimitBytes } from "../../domain/printers/print-ticket.ts";
import type { Incoming } from "../../store/blobs.ts";
import type { Store } from "../../store/store.ts";
import { countUsedBuffers } from "../../workers/memory.ts";
import { recheckSender } from "../sender.ts";

/** The maximum size of a form without uploaded files: names, values and the boundaries between parts. */
export const formLimitBytes = 256 * 1024;
/** The maximum size of a printer's form. Percent-encoding can triple the size of its PrintTicket. */
export const printerFormLimitBytes = formLimitBytes + 3 * ticketLimitBytes;
/** The maximum size of a form with a list to import. The whole form is kept in memory. */
export const importLimitBytes = 12 * 1024 * 1024;
/** The maximum number of parts in a form with an upload or a list to import. */
const uploadPartLimit = 250;
/** The maximum number of parts in any other form. */
const formPartLimit = 8000;

interface SizeLimit {
  readonly limitBytes: number;
  /** Makes the error for anything larger. */
  readonly tooLarge: () => UserError;
}

/** The limits of a form that is kept in memory. `limitBytes` is for the whole form. */
export interface FormKind extends SizeLimit {
  /**
   * The fields whose files are read. Files in other fields are ignored. Undefined for a list to import, whose files are
   * all read.
   */
  readonly fileFields?: readonly string[];
}

/** Names with their values, in the form's order. */
interface FormParts {
  readonly fields: [string, string][];
  readonly files: [string, Buffer][];
}

/** Reads a form into memory. @throws UserError "invalid", "too-large" for too many parts, or the error of `tooLarge` */
export async function readMultipart(
  request: IncomingMessage,
  { limitBytes, tooLarge, fileFields }: FormKind,
): Promise<FormParts> {
  const fields: [string, string][] = [];
  const files: [string, Buffer[]][] = [];
  const parts = fileFields === undefined ? uploadPartLimit : formPartLimit;
  const limits = { fieldSize: limitBytes, parts, fields: parts };
  const parser = parserFor(request, limits, (stream, name) => {
    if (fileFields?.includes(name) === false) return false;
    const chunks: Buffer[] = [];
    files.push([name, chunks]);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    return true;
  });
  parser.on("field", (name, value: string | undefined) => {
    if (value === undefined) parser.destroy(new UserError("invalid", unknownCharset));
    else fields.push([name, value]);
  });
  await feed(request, parser, { limitBytes, tooLarge });
  await recheckSender(request);
  return { fields, files: files.map(([name, chunks]) => [name, Buffer.concat(chunks)]) };
}

/**
 * Reads an upload into memory: the first file of a form, or a body that is no form.
 * @throws UserError "invalid" without a file, or the error of `tooLarge`
 */
export async function readUpload(request: IncomingMessage, limit: SizeLimit): Promise<Buffer> {
  if (/^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "")) {
    const { files } = await readMultipart(request, limit);
    const first = files[0]?.[1];
    if (first === undefined)
      throw new UserError("invalid", "No file was sent. Choose one and upload it again.");
    return first;
  }
  return readBody(request, limit);
}

/** Reads a body that is no form into memory. @throws the error of `tooLarge` */
export async function readBody(
  request: IncomingMessage,
  { limitBytes, tooLarge }: SizeLimit,
): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Keeps the request open after an error: the server reads the rest with `drain` before it answers.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw tooLarge();
    chunks.push(chunk);
  }
  await recheckSender(request);
  return Buffer.concat(chunks);
}

export function formTooLarge(): UserError {
  return new UserError("too-large", "This form is too large.");
}

interface ReceivedFile {
  readonly fileName: string;
  /** The temporary file. The caller must discard it, even after moving it into the store. */
  readonly incoming: Incoming;
}

/**
 * Receives the first file of a form, under any field name, into a temporary file of the store, and ignores the rest of
 * the form. An incomplete form leaves no file.
 * @throws UserError "too-large" beyond a limit, "invalid" without a file or for an incomplete form
 */
export async function receiveFile(
  { blobs }: Store,
  request: IncomingMessage,
  { limitBytes, tooLarge }: SizeLimit,
): Promise<ReceivedFile> {
  let first: { readonly fileName: string; readonly work: Promise<Incoming> } | undefined;
  // busboy emits `limit` as soon as a file has `fileSize` bytes, and a file of exactly `limitBytes` must be accepted.
  const limits = { fileSize: limitBytes + 1, fields: 0, files: uploadPartLimit, parts: uploadPartLimit };
  const parser = parserFor(request, limits, (stream, _field, fileName) => {
    if (first !== undefined) return false;
    stream.on("data", (chunk: Buffer) => countUsedBuffers(chunk.length));
    // The `data` listener starts the stream, but `receive` reads it later.
    stream.pause();
    stream.once("limit", () => stream.destroy(tooLarge()));
    const work = blobs.receive(stream);
    work.catch((error: Error) => parser.destroy(error));
    first = { fileName, work };
    return true;
  });
  try {
    await feed(request, parser, { limitBytes: limitBytes + formLimitBytes, tooLarge });
    await recheckSender(request);
  } catch (error) {
    await first?.work.then(
      (incoming) => blobs.discard(incoming),
      () => {},
    );
    throw error;
  }
  if (first === undefined) {
    throw new UserError("invalid", "No file was sent. Choose one and upload it again.");
  }
  return { fileName: first.fileName, incoming: await first.work };
}

/** @param takeFile reads a file, or returns false to ignore it */
function parserFor(
  request: IncomingMessage,
  limits: busboy.Limits,
  takeFile: (stream: Readable, field: string, fileName: string) => boolean,
): busboy.Busboy {
  try {
    const parser = busboy({ headers: request.headers, defParamCharset: "utf8", limits });
    // busboy would silently ignore further parts.
    parser.on("partsLimit", () => parser.destroy(formTooLarge()));
    parser.on("file", (field, stream, { filename }) => {
      // For an incomplete file, the form's own error is reported.
      stream.on("error", () => {});
      // An empty file input arrives as a part without a file name.
      if (!filename || !takeFile(stream, field, filename)) stream.resume();
    });
    return parser;
  } catch {
    throw brokenForm();
  }
}

/**
 * Parses a request's body. Rejects if the form is broken or too large, or if the client disconnects. The parser is
 * closed afterwards. The request stays open for the answer.
 */
function feed(request: IncomingMessage, parser: busboy.Busboy, limit: SizeLimit): Promise<void> {
  return new Promise((resolve, reject) => {
    let size = 0;
    let problem: Error | undefined;
    const stop = (error: Error) => {
      problem ??= error;
      request.unpipe(parser);
      parser.destroy(error);
    };
    const count = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit.limitBytes) stop(limit.tooLarge());
    };
    const onClose = () => {
      if (!request.readableEnded)
        stop(new UserError("invalid", "The upload was interrupted. Upload the file again."));
    };
    // busboy's own errors have no code. Those of a disk have one.
    parser.on("error", (error) =>
      stop(error instanceof UserError || "code" in (error as object) ? (error as Error) : brokenForm()),
    );
    parser.once("close", () => {
      request.off("data", count).off("close", onClose);
      if (problem === undefined) resolve();
      else reject(problem);
    });
    request.on("data", count).once("close", onClose);
    if (request.destroyed) onClose();
    else request.pipe(parser);
  });
}

/** busboy has no value for such a field. */
const unknownCharset = "A field of this form has a charset that Platen does not know. Send it in UTF-8.";

function brokenForm(): UserError {
  return new UserError("invalid", "The form is incomplete. Send the file as multipart/form-data.");
}
