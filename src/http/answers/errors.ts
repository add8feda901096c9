import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { type ErrorCode, type Help, UserError } from "../../domain/errors.ts";
import { errorFragment, errorPage } from "../../html/error.ts";
import type { Html } from "../../html/html.ts";
import { isDiskFull } from "../../store/database/reserve.ts";
import { nextLinks } from "../next-links.ts";
import { pageContextOf } from "../page-context.ts";
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

/** The HTTP status of an error. */
export function statusOf({ code }: UserError): number {
  return statuses[code];
}

/** Answers with a page that shows a form again with its errors. */
export function refusedPage(page: Html, error: UserError): TextReply {
  return { ...htmlReply(page, statusOf(error)), refusal: error.message };
}

/** Messages for other disk errors than a full disk, by the error's code. */
const diskErrors: Readonly<Record<string, string>> = {
  EIO: "The disk has an error",
  EROFS: "The disk can only be read",
  EMFILE: "The service has too many files open",
  ENFILE: "The system has too many files open",
};

/** Turns an error into an answer. Errors other than a `UserError` are logged under a short id. */
export function errorReply(
  app: Pick<App, "log" | "random">,
  request: IncomingMessage,
  error: unknown,
): Reply {
  if (error instanceof UserError) {
    return statusReply(request, statusOf(error), error.message, headersOf[error.code], error.help);
  }
  const id = app.random(4).toString("hex");
  const what = error instanceof Error ? (error.stack ?? error.message) : error;
  app.log(`error ${id}: ${requestLine(request)}: ${what}`);
  const { code } = error as NodeJS.ErrnoException;
  if (isDiskFull(error)) {
    return statusReply(request, 507, `The disk is full: nothing was saved. Make room and try again (${id}).`);
  }
  const why = diskErrors[code ?? ""];
  if (why !== undefined)
    return statusReply(request, 500, `${why} (${code}): nothing was changed. The log says more under ${id}.`);
  const message = `The service made an error (${id}). Nothing was changed; the log says more under this id.`;
  return statusReply(request, 500, message);
}

const maxUrlCharacters = 200;

/** The method and address of a request for the log, shortened, since a client can send any address. */
export function requestLine({ method, url = "" }: IncomingMessage): string {
  // A query at the sign-in address may contain a password.
  const visible = url.includes("sign-in") ? url.split("?", 1).join() : withoutLink(url);
  return `${method} ${visible.length > maxUrlCharacters ? `${visible.slice(0, maxUrlCharacters)}…` : visible}`;
}

/** Removes the query of an address with a link: readers of the log could use the link. */
function withoutLink(url: string): string {
  const at = url.indexOf("?");
  const hasLink = at >= 0 && new URLSearchParams(url.slice(at)).has("link");
  return hasLink ? `${url.slice(0, at)}?link=…` : url;
}

/** Answers with a message as a page, a fragment or one line, as the client requests it. */
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
      // Overrides the part of the page that the script wanted to replace.
      headers: { ...headers, "HX-Reselect": "unset", "HX-Reswap": "innerHTML", "HX-Retarget": "#message" },
    };
  }
  if (!acceptsHtml(request)) return { ...textReply(status, message, headers), refusal: message };
  const links = nextLinks(request, status);
  const page = htmlReply(errorPage(pageContextOf(request), status, refusal, links), status);
  return { ...page, refusal: message, headers };
}

/** Whether a request changes nothing. */
export function isReading({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

export function acceptsHtml({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? "");
}

/** Whether the sender accepts plain text and no HTML, and is no page script. */
export function wantsPlainText(request: IncomingMessage): boolean {
  const { accept = "", "hx-request": script } = request.headers;
  return script === undefined && /\btext\/plain\b/i.test(accept) && !acceptsHtml(request);
}
