import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { type ErrorCode, type Help, UserError } from "../../domain/errors.ts";
import { errorFragment, errorPage } from "../../html/error.ts";
import type { Html } from "../../html/html.ts";
import type { Link } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { isDiskFull } from "../../store/database/reserve.ts";
import { pageContextOf } from "../page-context.ts";
import { senderOf } from "../sender.ts";
import { htmlReply, type Reply, type TextReply, textReply } from "./reply.ts";

const statuses: Record<ErrorCode, number> = {
  malformed: 400,
  unauthorized: 401,
  "too-often": 429,
  invalid: 422,
  "not-found": 404,
  conflict: 409,
  stale: 409,
  "too-large": 413,
  full: 507,
  forbidden: 403,
  misdirected: 421,
  busy: 503,
};

/** The value of `WWW-Authenticate` that asks for a token as a password. */
export const basicChallenge = 'Basic realm="Platen", charset="UTF-8"';

const headersOf: Partial<Record<ErrorCode, Record<string, string>>> = {
  unauthorized: { "WWW-Authenticate": `Bearer realm="Platen", error="invalid_token", ${basicChallenge}` },
  "too-often": { "Retry-After": "60" },
  busy: { "Retry-After": "5" },
};

export function statusOf({ code }: UserError): number {
  return statuses[code];
}

/** Answers with a page that shows a form again with its errors. */
export function refusedPage(page: Html, error: UserError): TextReply {
  return { ...htmlReply(page, statusOf(error)), refusal: error.message };
}

/** Messages for disk errors, by the error's code. `isDiskFull` recognizes a full disk. */
const diskErrors: Readonly<Record<string, string>> = {
  EIO: "The disk has an error",
  EROFS: "The disk is read-only",
  EMFILE: "Platen has too many files open",
  ENFILE: "The system has too many files open",
};

/** Turns an error into an answer. Logs an error that is not a `UserError`, with a short id that the answer names. */
export function errorReply(app: Pick<App, "log">, request: IncomingMessage, error: unknown): Reply {
  if (error instanceof UserError) {
    return statusReply(request, statusOf(error), error.message, headersOf[error.code], error.help);
  }
  const { id } = senderOf(request);
  const what = error instanceof Error ? (error.stack ?? error.message) : error;
  app.log(`error ${id}: ${requestLine(request)}: ${what}`);
  const { code } = error as NodeJS.ErrnoException;
  if (isDiskFull(error)) {
    return statusReply(request, 507, `The disk is full. Nothing was saved. Free disk space first (${id}).`);
  }
  const why = diskErrors[code ?? ""];
  if (why !== undefined)
    return statusReply(request, 500, `${why} (${code}). Nothing was changed. Search the log for ${id}.`);
  const message = `Platen had an error (${id}). Nothing was changed. Search the log for this id.`;
  return statusReply(request, 500, message);
}

const maxPathCharacters = 200;

/** The method and path of a request for the log, shortened. A query may contain a link or a password. */
export function requestLine({ method, url = "" }: IncomingMessage): string {
  const path = url.replace(/\?.*/s, "");
  return `${method} ${path.length > maxPathCharacters ? `${path.slice(0, maxPathCharacters)}…` : path}`;
}

/** Answers with a message: a page for a browser, a fragment for a page script, otherwise one line. */
export function statusReply(
  request: IncomingMessage,
  status: number,
  message: string,
  headers: Record<string, string> = {},
  help: Help = {},
): TextReply {
  const refusal = { message, help };
  if (request.headers["hx-request"] !== undefined) {
    return {
      ...htmlReply(errorFragment(pageContextOf(request), refusal), status),
      refusal: message,
      // Shows the message, instead of replacing the part of the page that the script wanted.
      headers: { ...headers, "HX-Reselect": "unset", "HX-Reswap": "innerHTML", "HX-Retarget": "#message" },
    };
  }
  if (!acceptsHtml(request)) return { ...textReply(status, message, headers), refusal: message };
  const links = nextLinks(request, status);
  const page = htmlReply(errorPage(pageContextOf(request), status, refusal, links), status);
  return { ...page, refusal: message, headers };
}

/** Whether a request only reads. */
export function isReading({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

export function acceptsHtml({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? "");
}

/** Whether a program that is not a page script accepts plain text and no HTML. */
export function wantsPlainText(request: IncomingMessage): boolean {
  const { accept = "", "hx-request": script } = request.headers;
  return script === undefined && /\btext\/plain\b/i.test(accept) && !acceptsHtml(request);
}

const places: Readonly<Record<string, { readonly list: Link; readonly record?: string }>> = {
  printers: { list: { label: "All printers", path: paths.printers }, record: "Open the printer" },
  clients: { list: { label: "All clients", path: paths.clients }, record: "Open the client" },
  drivers: { list: { label: "All drivers", path: paths.drivers }, record: "Open the driver" },
  packages: { list: { label: "All packages", path: paths.packages } },
};

/** The links on an error page: to the record in the path, and to its list. */
function nextLinks({ url = "" }: IncomingMessage, status: number): Link[] {
  // These pages need sign-in too.
  if (status === 401) return [];
  const [, name = "", id = "", below] = url.split(/[?#]/)[0]?.split("/") ?? [];
  const place = Object.hasOwn(places, name) ? places[name] : undefined;
  if (place === undefined) return [];
  const { list, record } = place;
  const isBelowRecord = below !== undefined && status !== 404 && /^\d{1,15}$/.test(id);
  const above = record && isBelowRecord ? [{ label: record, path: `/${name}/${id}` }, list] : [list];
  return above.filter(({ path }) => path !== url);
}
