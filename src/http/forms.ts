import type { IncomingMessage } from "node:http";
import { type FieldMessages, UserError } from "../domain/errors.ts";
import type { FormInput } from "../domain/fields.ts";
import type { FormState } from "../html/form.ts";
import { formLimitBytes, formTooLarge, readMultipartFields } from "./multipart.ts";

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
  if (/^multipart\/form-data/i.test(type)) return readMultipartFields(request);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= formLimitBytes) chunks.push(chunk);
  }
  if (size > formLimitBytes) throw formTooLarge();
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString("utf8")));
}

/** Reads what is left of a request, for a while, and throws it away: the answer reaches only who has sent all. */
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
    return { ok: false, status: error.code === "conflict" ? 409 : 422, form: { values, problems } };
  }
}
