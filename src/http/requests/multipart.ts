import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import busboy from "busboy";
import { UserError } from "../../domain/errors.ts";
import { ticketLimitBytes } from "../../domain/printers/print-ticket.ts";
import type { Incoming } from "../../store/blobs.ts";
import type { Store } from "../../store/store.ts";
import { countUsedBuffers } from "../../workers/memory.ts";
import { recheckSender } from "../sender.ts";

/** The size of a form without its file: names, values and the lines between them. */
export const formLimitBytes = 256 * 1024;
/** The size of a printer's form, whose PrintTicket may need three bytes for each byte. */
export const printerFormLimitBytes = formLimitBytes + 3 * ticketLimitBytes;
/** The size of a form with a list to import, which is kept in memory. */
export const importLimitBytes = 12 * 1024 * 1024;
/** Parts of a form with a file. */
const partLimit = 250;
/** Parts of a form with fields only. */
const fieldLimit = 8000;

/** The limits of a form that is kept in memory. */
export interface FormKind {
  /** The size of the whole form. */
  readonly limitBytes: number;
  readonly tooLarge: () => UserError;
  /** The fields whose files are kept; undefined for all. */
  readonly fileFields?: readonly string[];
}

/** Names with their values, in the form's order. */
interface FormParts {
  readonly fields: [string, string][];
  readonly files: [string, Buffer][];
}

/** Reads a form into memory. @throws UserError "invalid", or the error of `tooLarge` beyond the limit */
export async function readMultipart(
  request: IncomingMessage,
  { limitBytes, tooLarge, fileFields }: FormKind,
): Promise<FormParts> {
  const fields: [string, string][] = [];
  const files: [string, Buffer[]][] = [];
  const parts = fileFields === undefined ? partLimit : fieldLimit;
  const limits = { fieldSize: limitBytes, parts, fields: parts };
  const parser = parserFor(request, limits, (stream, name) => {
    if (fileFields?.includes(name) === false) return false;
    const chunks: Buffer[] = [];
    files.push([name, chunks]);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    return true;
  });
  parser.on("field", (name, value) => fields.push([name, value]));
  await feed(request, parser, limitBytes, tooLarge);
  await recheckSender(request);
  return { fields, files: files.map(([name, chunks]) => [name, Buffer.concat(chunks)]) };
}

export function formTooLarge(): UserError {
  return new UserError("too-large", "This form is too large.");
}

interface FileLimit {
  readonly limitBytes: number;
  readonly tooLarge: () => UserError;
}

interface ReceivedFile {
  readonly fileName: string;
  /** The file in the store. The caller adopts or discards it. */
  readonly incoming: Incoming;
}

/**
 * Receives the first file of a form, under any field name, into the store, and ignores the rest of the form. An
 * incomplete form leaves no file behind.
 * @throws UserError "too-large" beyond the limit, "invalid" without a file or for an incomplete form
 */
export async function receiveFile(
  { blobs }: Store,
  request: IncomingMessage,
  { limitBytes, tooLarge }: FileLimit,
): Promise<ReceivedFile> {
  let first: { readonly fileName: string; readonly work: Promise<Incoming> } | undefined;
  // busboy reports a file that just reaches its limit, and a file of exactly `limitBytes` is accepted.
  const limits = { fileSize: limitBytes + 1, fields: 0, files: partLimit, parts: partLimit };
  const parser = parserFor(request, limits, (stream, _field, fileName) => {
    if (first !== undefined) return false;
    stream.on("data", (chunk: Buffer) => countUsedBuffers(chunk.length));
    stream.pause();
    stream.once("limit", () => stream.destroy(tooLarge()));
    const work = blobs.receive(stream);
    work.catch((error: Error) => parser.destroy(error));
    first = { fileName, work };
    return true;
  });
  try {
    await feed(request, parser, limitBytes + formLimitBytes, tooLarge);
    await recheckSender(request);
  } catch (error) {
    await first?.work.then(
      (incoming) => blobs.discard(incoming),
      (failure: unknown) => {
        if (!isFormError(failure)) throw failure;
      },
    );
    throw error;
  }
  if (first === undefined) {
    throw new UserError("invalid", "No file was sent. Choose one and upload it again.");
  }
  return { fileName: first.fileName, incoming: await first.work };
}

/** Whether a file failed only because its form did: busboy's errors have no code, and disk errors have one. */
function isFormError(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error && !("code" in error);
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
      // The error of an incomplete part also fails the form, which reports it.
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
 * Sends a request's body through a parser until the form's end. Stops at an error in the form, beyond `limitBytes`, or
 * when the client leaves. The parser is closed afterwards; the request stays open for the answer.
 */
function feed(
  request: IncomingMessage,
  parser: busboy.Busboy,
  limitBytes: number,
  tooLarge: () => UserError,
): Promise<void> {
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
      if (size > limitBytes) stop(tooLarge());
    };
    const onClose = () => {
      if (!request.readableEnded) stop(new UserError("invalid", "The upload broke off."));
    };
    parser.on("error", (error) => stop(error instanceof UserError ? error : brokenForm()));
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

function brokenForm(): UserError {
  return new UserError("invalid", "This is no complete form: send the file as multipart/form-data.");
}
