import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import busboy from "busboy";
import { UserError } from "../../domain/errors.ts";
import { ticketLimitBytes } from "../../domain/printers/print-ticket.ts";
import type { Incoming } from "../../store/blobs.ts";
import type { Store } from "../../store/store.ts";
import { buffersUsed } from "../../workers/memory.ts";
import { recheckSender } from "../sender.ts";

/** What a form may bring besides its file, in bytes: names, values and the lines between them. */
export const formLimitBytes = 256 * 1024;
/** What a printer's form may bring: its PrintTicket as well, in which every byte may be written as three. */
export const printerFormLimitBytes = formLimitBytes + 3 * ticketLimitBytes;
/** What a form may bring that is a list: all of it is kept in memory. */
export const importLimitBytes = 12 * 1024 * 1024;
/** Parts of a form that brings a file. */
const partLimit = 250;
/** Parts of a form of fields. */
const fieldLimit = 8000;

/** What is taken of a form that is kept in memory. */
export interface FormKind {
  /** Of the whole form. */
  readonly limitBytes: number;
  readonly tooLarge: () => UserError;
  /** The fields whose files are kept; undefined where all are. */
  readonly fileFields?: readonly string[];
}

/** Names with their values, in the order in which they came. */
interface FormParts {
  readonly fields: [string, string][];
  readonly files: [string, Buffer][];
}

/** Reads a form into memory. @throws UserError "invalid", or what `tooLarge` makes beyond the limit */
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

/** How large a file may be. */
interface FileLimit {
  readonly limitBytes: number;
  readonly tooLarge: () => UserError;
}

interface ReceivedFile {
  readonly fileName: string;
  /** The file in the store, for a service that takes it over. */
  readonly incoming: Incoming;
}

/**
 * Receives the first file of a form, whatever its field is called, into the store; everything else in the form is
 * passed over. A form that breaks off anywhere leaves nothing of its file behind.
 * @throws UserError "too-large" beyond the limit, "invalid" without a file or for a form that is not whole
 */
export async function receiveFile(
  { blobs }: Store,
  request: IncomingMessage,
  { limitBytes, tooLarge }: FileLimit,
): Promise<ReceivedFile> {
  let first: { readonly fileName: string; readonly work: Promise<Incoming> } | undefined;
  // busboy says that a limit is hit when the file reaches it, and a file of exactly ours must pass.
  const limits = { fileSize: limitBytes + 1, fields: 0, files: partLimit, parts: partLimit };
  const parser = parserFor(request, limits, (stream, _field, fileName) => {
    if (first !== undefined) return false;
    stream.on("data", (chunk: Buffer) => buffersUsed(chunk.length));
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

/** Whether a file failed only because its form did: busboy's errors have no code, and those of disks do. */
function isFormError(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error && !("code" in error);
}

/** @param takeFile reads a file; false where it does not, and the file is passed over */
function parserFor(
  request: IncomingMessage,
  limits: busboy.Limits,
  takeFile: (stream: Readable, field: string, fileName: string) => boolean,
): busboy.Busboy {
  try {
    const parser = busboy({ headers: request.headers, defParamCharset: "utf8", limits });
    // What is beyond would be left out without a word.
    parser.on("partsLimit", () => parser.destroy(formTooLarge()));
    parser.on("file", (field, stream, { filename }) => {
      // A part that breaks off fails by itself; the form's own failure says so.
      stream.on("error", () => {});
      // A file input that was left empty arrives as a part without a name.
      if (!filename || !takeFile(stream, field, filename)) stream.resume();
    });
    return parser;
  } catch {
    throw brokenForm();
  }
}

/**
 * Sends a request's body through a parser, which is closed when this returns or throws: at the form's end, at the
 * first thing that is wrong with it, beyond `limitBytes`, or when the client leaves. The request itself stays open
 * for the answer.
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
    const left = () => {
      if (!request.readableEnded) stop(new UserError("invalid", "The upload broke off."));
    };
    parser.on("error", (error) => stop(error instanceof UserError ? error : brokenForm()));
    parser.once("close", () => {
      request.off("data", count).off("close", left);
      if (problem === undefined) resolve();
      else reject(problem);
    });
    request.on("data", count).once("close", left);
    if (request.destroyed) left();
    else request.pipe(parser);
  });
}

function brokenForm(): UserError {
  return new UserError("invalid", "This is no complete form: send the file as multipart/form-data.");
}
