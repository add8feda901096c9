import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import busboy from "busboy";
import { type FieldMessages, UserError } from "../domain/errors.ts";
import type { FormInput } from "../domain/fields.ts";
import type { FormState } from "../html/form.ts";
import { buffersUsed } from "../services/memory.ts";

const formLimitBytes = 256 * 1024;
const drainLimitMs = 60_000;

/** Whether a browser asked for a page itself, rather than a script of ours for a fragment. */
export function isNavigation(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers["hx-request"] !== undefined) return false;
  // Browsers send Sec-Fetch-Mode only to https and localhost; on a plain LAN address the other one remains.
  return headers["sec-fetch-mode"] === "navigate" || headers["upgrade-insecure-requests"] === "1";
}

/** Reads a form's fields, whichever of the two encodings it came in. @throws UserError */
export async function readForm(request: IncomingMessage): Promise<FormInput> {
  const type = request.headers["content-type"] ?? "";
  if (/^multipart\/form-data/i.test(type)) return readMultipart(request);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= formLimitBytes) chunks.push(chunk);
  }
  if (size > formLimitBytes) throw new UserError("too-large", "This form is too large.");
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString("utf8")));
}

function readMultipart(request: IncomingMessage): Promise<FormInput> {
  const fields: Record<string, string> = {};
  const parser = parserFor(request, { fieldSize: formLimitBytes, fields: 200, files: 0 });
  return new Promise((resolve, reject) => {
    parser.on("field", (name, value) => {
      fields[name] = value;
    });
    parser.on("error", () => reject(brokenForm()));
    parser.on("close", () => resolve(fields));
    request.on("error", reject);
    request.pipe(parser);
  });
}

/** A file that arrived, and what became of it. */
export interface Received<T> {
  readonly fileName: string;
  readonly result: T;
}

/**
 * Hands the first file of a form, whatever its field is called, to `receive` as a stream. The request is
 * always read to its end before this returns or throws, so that the answer reaches the client.
 * @throws UserError "too-large" beyond `limitBytes`, "invalid" without a file, and whatever `receive` throws
 */
export async function receiveFile<T>(
  request: IncomingMessage,
  limitBytes: number,
  tooLarge: () => UserError,
  receive: (stream: Readable) => Promise<T>,
): Promise<Received<T>> {
  try {
    return await firstFile(request, limitBytes, tooLarge, receive);
  } catch (error) {
    await drain(request);
    throw error;
  }
}

function firstFile<T>(
  request: IncomingMessage,
  limitBytes: number,
  tooLarge: () => UserError,
  receive: (stream: Readable) => Promise<T>,
): Promise<Received<T>> {
  // busboy says that a limit is hit when the file reaches it, and a file of exactly ours must pass.
  const parser = parserFor(request, { fileSize: limitBytes + 1, fieldSize: formLimitBytes, fields: 200 });
  return new Promise((resolve, reject) => {
    let work: Promise<Received<T>> | undefined;
    const fail = (error: unknown) => {
      request.unpipe(parser);
      reject(error);
    };
    parser.on("file", (_name, stream, { filename }) => {
      // A file input that was left empty arrives as a part without a name.
      if (work !== undefined || !filename) {
        stream.resume();
        return;
      }
      stream.on("data", (chunk: Buffer) => buffersUsed(chunk.length));
      stream.pause();
      stream.on("limit", () => stream.destroy(tooLarge()));
      const cut = (error?: Error) =>
        stream.destroy(error ?? new UserError("invalid", "The upload broke off."));
      request.once("aborted", () => cut());
      work = receive(stream).then((result) => ({ fileName: filename, result }));
      work.catch(fail);
    });
    parser.on("error", () => fail(brokenForm()));
    parser.on("close", () => {
      if (work !== undefined) work.then(resolve, fail);
      else fail(new UserError("invalid", "No file was sent. Choose one and upload it again."));
    });
    request.once("aborted", () => fail(new UserError("invalid", "The upload broke off.")));
    request.pipe(parser);
  });
}

function parserFor(request: IncomingMessage, limits: busboy.Limits): busboy.Busboy {
  try {
    return busboy({ headers: request.headers, defParamCharset: "utf8", limits: { parts: 250, ...limits } });
  } catch {
    throw brokenForm();
  }
}

function brokenForm(): UserError {
  return new UserError("invalid", "This is no complete form: send the file as multipart/form-data.");
}

/** Reads what is left of a request, for a while, and throws it away. */
export async function drain(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  request.unpipe();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, drainLimitMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once("end", done).once("close", done).once("error", done);
    request.resume();
  });
}

/** What saving a form led to: a value, or the form again with what is wrong. */
export type Saved<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly status: 409 | 422; readonly form: FormState };

/** Runs `save`, and gives the form back with its messages when a field was refused. */
export async function saving<T>(values: FormInput, save: () => Promise<T>): Promise<Saved<T>> {
  try {
    return { ok: true, value: await save() };
  } catch (error) {
    if (!(error instanceof UserError) || Object.keys(error.fields).length === 0) throw error;
    const problems: FieldMessages = error.fields;
    return { ok: false, status: error.problem === "conflict" ? 409 : 422, form: { values, problems } };
  }
}
