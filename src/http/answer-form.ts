import type { IncomingMessage } from "node:http";
import { NotRestored } from "../domain/deletion.ts";
import { UserError } from "../domain/errors.ts";
import type { FormInput } from "../domain/fields.ts";
import { differencesFrom, openedName } from "../domain/fields.ts";
import type { FormState } from "../html/form.ts";
import type { Html } from "../html/html.ts";
import { statusOf, wantsLine } from "./answers/errors.ts";
import { htmlReply, type Reply, redirect, textReply } from "./answers/reply.ts";

/** What a change led to: its value, or the error that the page shows where the form is. */
export type Result<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly error: UserError; readonly value?: undefined };

/** Of a change that throws where it is refused. */
export const done: Result<void> = { value: undefined };

/** Saves a form. @throws what the change throws, save for an error that is about what was sent */
export const saving = showing(({ code, fields }) => code === "stale" || Object.keys(fields).length > 0);

/** Takes a file. @throws what the change throws, save for an error that is about the file */
export const uploading = showing(({ code }) => code === "invalid" || code === "too-large");

/** Takes a deletion back, or makes it final. @throws what the change throws, save for what stands in the way of that */
export const undoing = showing((error) => error instanceof NotRestored);

/** Changes what a list has chosen. @throws what the change throws, save for what was wrong with the choice */
export const changing = showing(({ code }) => code === "invalid");

/**
 * Deletes a record. @throws whatever `remove` throws, save for what stands in the way, which a browser sees on the page
 * that it comes from; a script of ours shows it in the place for messages, like every other error
 */
export function removing<T>(request: IncomingMessage, remove: () => Promise<T>): Promise<Result<T>> {
  return showing(({ code }) => code === "conflict" && isNavigation(request))(remove);
}

/** Makes a change. An error that `isShown` is the result: the page shows it where the form is. */
function showing(isShown: (error: UserError) => boolean) {
  return async <T>(change: () => Promise<T>): Promise<Result<T>> => {
    try {
      return { value: await change() };
    } catch (error) {
      if (error instanceof UserError && isShown(error)) return { error };
      throw error;
    }
  };
}

/** A form that shows a record, and sends back what it was opened with. */
export function recordForm(values: FormInput): FormState {
  return sentForm({ ...values, opened: openedName(values) });
}

/**
 * A form as it was sent, with a message beside each field that was refused.
 * @param now the record's values, where somebody may have saved it since the form was opened
 */
export function sentForm(values: FormInput, error?: UserError, now: FormInput = {}): FormState {
  if (error?.code !== "stale") return { values, problems: error?.fields ?? {} };
  // Who has seen what somebody else saved may overwrite it, unless it has changed again.
  const meanwhile = differencesFrom(values, now);
  return { values: { ...values, opened: openedName(now) }, problems: {}, meanwhile };
}

/** The three shapes of an answer; only the one that is asked for is made. */
export interface FormAnswers<T> {
  /** The path that a browser goes on to after the change. */
  readonly redirect: (value: T) => string;
  /** The whole page again, for a browser whose change was refused; without it the error is thrown. */
  readonly page?: (error: UserError) => Html | Promise<Html>;
  /** The part of the page that a script puts in place, after the change or with why it was refused. */
  readonly fragment: (result: Result<T>) => Html | Promise<Html>;
}

/**
 * Answers a form in the shape that its sender can show: to a browser a page, to a script of ours a fragment.
 * @throws UserError the result's, where there is no page to show it on
 */
export async function answerForm<T>(
  request: IncomingMessage,
  result: Result<T>,
  { redirect: path, page, fragment }: FormAnswers<T>,
): Promise<Reply> {
  const { error } = result;
  const status = error === undefined ? 200 : statusOf(error);
  if (!isNavigation(request)) {
    if (error !== undefined && wantsLine(request)) return textReply(status, error.message);
    return htmlReply(await fragment(result), status);
  }
  if (error === undefined) return redirect(path(result.value));
  if (page === undefined) throw error;
  return htmlReply(await page(error), status);
}

/** Whether a browser asked for a page itself, rather than a script of ours for a fragment. */
export function isNavigation({ headers }: IncomingMessage): boolean {
  if (headers["hx-request"] !== undefined) return false;
  // Browsers send Sec-Fetch-Mode only to https and localhost; on a plain LAN address the other one remains.
  return headers["sec-fetch-mode"] === "navigate" || headers["upgrade-insecure-requests"] === "1";
}
