import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import busboy from "busboy";
import { decodeText } from "../../domain/decode.ts";
import { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { ticketLimitBytes } from "../../domain/print-ticket.ts";
import { buffersUsed } from "../../workers/memory.ts";
import { bodyIsRead } from "./body-end.ts";

/** What a form may bring besides its file, in bytes: names, values and the lines between them. */
export const formLimitBytes = 256 * 1024;
/** What a printer's form may bring: its PrintTicket as well, in which every byte may be written as three. */
export const printerFormLimitBytes = formLimitBytes + 3 * ticketLimitBytes;
/** What a form may bring that is a list: all of it is kept in memory. */
export const importLimitBytes = 12 * 1024 * 1024;
const partLimit = 250;
/** Of a form without files: more than its bytes can bring. */
const fieldLimit = 8000;

/** What is taken of a form without a list. */
export interface FormKind {
  readonly limitBytes: number;
  /** Fields that may come as files of text; where one does, it counts more than what was typed. */
  readonly textFiles: readonly string[];
}

/**
 * Reads a form's fields, as they stand, and passes over its other files.
 * @returns names with their values
 * @throws UserError "invalid" or "too-large"
 */
export async function readMultipartFields(
  request: IncomingMessage,
  { limitBytes, textFiles }: FormKind,
): Promise<[string, string][]> {
  const fields: [string, string][] = [];
  const files: [string, Buffer[]][] = [];
  const parser = parserFor(request, { fieldSize: limitBytes, parts: fieldLimit, fields: fieldLimit });
  parser.on("field", (name, value) => fields.push([name, value]));
  parser.on("file", (name, stream, { filename }) => {
    // A part that breaks off fails by itself; the form's own failure says so.
    stream.on("error", () => {});
    if (!filename || !textFiles.includes(name)) {
      stream.resume();
      return;
    }
    const chunks: Buffer[] = [];
    files.push([name, chunks]);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  });
  await feed(request, parser, limitBytes, formTooLarge);
  await bodyIsRead(request);
  const texts = files.map(([name, chunks]) => [name, decodeText(Buffer.concat(chunks))] as [string, string]);
  return [...fields, ...texts.filter(([, text]) => text !== "")];
}

/** A form that is kept in memory with the first of its files, whatever that is called. */
interface WholeForm {
  readonly fields: FormInput;
  readonly file: Buffer | undefined;
}

/** Reads a form with a file into memory. @throws UserError "invalid", or what `tooLarge` makes beyond the limit */
export async function readFormWithFile(
  request: IncomingMessage,
  limitBytes: number,
  tooLarge: () => UserError,
): Promise<WholeForm> {
  const fields = new Map<string, string>();
  const parser = parserFor(request, { fieldSize: limitBytes, fields: partLimit });
  parser.on("field", (name, value) => fields.set(name, value));
  let chunks: Buffer[] | undefined;
  parser.on("file", (_name, stream, { filename }) => {
    // A part that breaks off fails by itself; the form's own failure says so.
    stream.on("error", () => {});
    if (chunks !== undefined || !filename) {
      stream.resume();
      return;
    }
    const own: Buffer[] = [];
    chunks = own;
    stream.on("data", (chunk: Buffer) => own.push(chunk));
  });
  await feed(request, parser, limitBytes, tooLarge);
  await bodyIsRead(request);
  return { fields: Object.fromEntries(fields), file: chunks && Buffer.concat(chunks) };
}

export function formTooLarge(): UserError {
  return new UserError("too-large", "This form is too large.");
}

/** What becomes of a file that arrives. */
export interface Receiver<T> {
  /** Of the file. */
  readonly limitBytes: number;
  readonly tooLarge: () => UserError;
  /** Takes the file's bytes; leaves nothing behind when the stream fails. */
  readonly receive: (stream: Readable) => Promise<T>;
  /** Gives up a file that arrived whole in a form that did not. */
  readonly discard: (result: T) => Promise<void>;
}

/** A file that arrived, and what became of it. */
export interface Received<T> {
  readonly fileName: string;
  readonly result: T;
}

/**
 * Hands the first file of a form, whatever its field is called, to the receiver as a stream; everything else in
 * the form is passed over. A form that breaks off anywhere leaves nothing of its file behind.
 * @throws UserError "too-large" beyond the limit, "invalid" without a file or for a form that is not whole, and
 *   whatever `receive` throws
 */
export async function receiveFile<T>(
  request: IncomingMessage,
  { limitBytes, tooLarge, receive, discard }: Receiver<T>,
): Promise<Received<T>> {
  // busboy says that a limit is hit when the file reaches it, and a file of exactly ours must pass.
  const parser = parserFor(request, { fileSize: limitBytes + 1, fields: 0, files: partLimit });
  let first: { readonly fileName: string; readonly work: Promise<T> } | undefined;
  parser.on("file", (_name, stream, { filename }) => {
    // A part that breaks off fails by itself; the form's own failure says so below.
    stream.on("error", () => {});
    // A file input that was left empty arrives as a part without a name.
    if (first !== undefined || !filename) {
      stream.resume();
      return;
    }
    stream.on("data", (chunk: Buffer) => buffersUsed(chunk.length));
    stream.pause();
    stream.once("limit", () => stream.destroy(tooLarge()));
    const work = receive(stream);
    work.catch((error: Error) => parser.destroy(error));
    first = { fileName: filename, work };
  });
  try {
    await feed(request, parser, limitBytes + formLimitBytes, tooLarge);
    await bodyIsRead(request);
  } catch (error) {
    await first?.work.then(discard, (failure: unknown) => {
      if (!isFormError(failure)) throw failure;
    });
    throw error;
  }
  if (first === undefined) {
    throw new UserError("invalid", "No file was sent. Choose one and upload it again.");
  }
  return { fileName: first.fileName, result: await first.work };
}

/** Whether a file failed only because its form did: busboy's errors have no code, and those of disks do. */
function isFormError(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error && !("code" in error);
}

function parserFor(request: IncomingMessage, limits: busboy.Limits): busboy.Busboy {
  try {
    const options = {
      headers: request.headers,
      defParamCharset: "utf8",
      limits: { parts: partLimit, ...limits },
    };
    const parser = busboy(options);
    // What is beyond would be left out without a word.
    parser.on("partsLimit", () => parser.destroy(formTooLarge()));
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
