import type { IncomingMessage } from "node:http";
import { isLimited } from "../domain/access/access.ts";
import { NotRestored } from "../domain/deletion.ts";
import { UserError } from "../domain/errors.ts";
import type { FormInput } from "../domain/fields.ts";
import { formVersion, type mergeForm } from "../domain/form-versions.ts";
import type { FormState } from "../html/form.ts";
import type { Html } from "../html/html.ts";
import { statusOf, wantsPlainText } from "./answers/errors.ts";
import { htmlReply, type Reply, redirect, textReply } from "./answers/reply.ts";
import { senderOf } from "./sender.ts";

/** The value of a change, or the error that the page shows beside the form. */
export type Result<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly error: UserError; readonly value?: undefined };

/** The result of a change without a value. */
export const noResult: Result<void> = { value: undefined };

/** Saves a form. @throws what the change throws, except for "stale" and errors about the form's fields */
export const trySave = catching(({ code, fields }) => code === "stale" || Object.keys(fields).length > 0);

/** Signs in at a provider. @throws what the sign-in throws, except for refusals and a provider that does not answer */
export const trySignIn = catching(({ code }) => ["forbidden", "busy", "too-often"].includes(code));

/** Receives a file. @throws what the change throws, except for errors about the file */
export const tryUpload = catching(({ code }) => code === "invalid" || code === "too-large");

/** Restores a deleted record, or makes its deletion final. @throws what the change throws, except for `NotRestored` */
export const tryUndo = catching((error) => error instanceof NotRestored);

/** Changes the chosen records of a list. @throws what the change throws, except for errors about the choice */
export const tryChange = catching(({ code }) => code === "invalid");

/**
 * Deletes a record. For a plain form, which is one sent without a page script, the page shows a conflict. Page scripts
 * show it like other errors.
 * @throws what `remove` throws, except for a conflict of a plain form
 */
export function tryRemove<T>(request: IncomingMessage, remove: () => Promise<T>): Promise<Result<T>> {
  return catching(({ code }) => code === "conflict" && isNavigation(request))(remove);
}

/** Makes a function that runs a change. It catches the errors for which `isCaught` is true, and returns them. */
function catching(isCaught: (error: UserError) => boolean) {
  return async <T>(change: () => Promise<T>): Promise<Result<T>> => {
    try {
      return { value: await change() };
    } catch (error) {
      if (error instanceof UserError && isCaught(error)) return { error };
      throw error;
    }
  };
}

/** A form with a record's values and their version, so that a save detects changes by other users. */
export function recordForm(values: FormInput): FormState {
  return sentForm({ ...values, opened: formVersion(values) });
}

/** A form with the values that were sent, and a message beside each refused field. */
export function sentForm(values: FormInput, error?: UserError): FormState {
  return { values, problems: error?.fields ?? {} };
}

/**
 * A record's form after a refused save. It has the saved values of fields that only another user changed. After seeing
 * the other values, the sender may overwrite them, unless the record changes once more.
 */
export function refusedForm(
  { values, kept, conflicts }: ReturnType<typeof mergeForm>,
  saved: FormInput,
  error: UserError,
): FormState {
  const form = sentForm({ ...values, opened: formVersion(saved) }, error);
  return { ...form, kept: Object.keys(kept), ...(error.code === "stale" && { newerValues: conflicts }) };
}

/** The three kinds of answers to a form; only the requested one is made. */
export interface FormAnswers<T> {
  /** The path to which a plain form is redirected after the change. */
  readonly redirect: (value: T) => string;
  /** The page for a plain form whose change was refused. Without it, the error is thrown. */
  readonly page?: (error: UserError) => Html | Promise<Html>;
  /** The path of the changed record, for `Location`, and a line that tells a program what happened. */
  readonly record?: (value: T) => { readonly path: string; readonly line: string };
  /** The part of the page that a page script replaces, after the change or with the error. */
  readonly fragment: (result: Result<T>) => Html | Promise<Html>;
}

/**
 * Answers a plain form with a page or a redirect, a page script with a fragment, and a program that wants it with a line.
 * @throws UserError the error of the result, if there is no `page` for it
 */
export async function answerForm<T>(
  request: IncomingMessage,
  result: Result<T>,
  { redirect: path, page, record, fragment }: FormAnswers<T>,
): Promise<Reply> {
  const { error } = result;
  const status = error === undefined ? 200 : statusOf(error);
  const changed = error === undefined ? record?.(result.value) : undefined;
  const headers = changed === undefined ? {} : { Location: changed.path };
  const line = error?.message ?? changed?.line;
  if (line !== undefined && wantsLine(request)) return textReply(status, line, headers);
  if (!isNavigation(request)) return { ...htmlReply(await fragment(result), status), headers };
  if (error === undefined) return redirect(path(result.value));
  if (page === undefined) throw error;
  return htmlReply(await page(error), status);
}

/** Pages and fragments may show other records, which a token for uploading drivers must not see. */
function wantsLine(request: IncomingMessage): boolean {
  return (!isNavigation(request) && wantsPlainText(request)) || isLimited(senderOf(request).identity);
}

/** Whether a browser requests a page. A page script requests a fragment. */
export function isNavigation({ headers }: IncomingMessage): boolean {
  if (headers["hx-request"] !== undefined) return false;
  // Browsers send Sec-Fetch-Mode only to https and localhost, but Upgrade-Insecure-Requests also to a LAN address.
  return headers["sec-fetch-mode"] === "navigate" || headers["upgrade-insecure-requests"] === "1";
}
