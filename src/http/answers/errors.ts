import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { type ErrorCode, type Help, UserError } from "../../domain/errors.ts";
import { errorFragment, errorPage } from "../../html/error.ts";
import type { Html } from "../../html/html.ts";
import { isDiskFull } from "../../store/database/reserve.ts";
import { nextLinks } from "../next-links.ts";
import { frameOf } from "../page-context.ts";
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

/** What asks a program, or a browser, for a token. */
export const basicChallenge = 'Basic realm="Platen", charset="UTF-8"';

const headersOf: Partial<Record<ErrorCode, Record<string, string>>> = {
  unauthorized: { "WWW-Authenticate": `Bearer realm="Platen", error="invalid_token", ${basicChallenge}` },
  "too-often": { "Retry-After": "60" },
  busy: { "Retry-After": "5" },
};

/** The status that an error is answered with. */
export function statusOf({ code }: UserError): number {
  return statuses[code];
}

/** A page that shows a form again, with what was wrong with it. */
export function refusedPage(page: Html, error: UserError): TextReply {
  return { ...htmlReply(page, statusOf(error)), refusal: error.message };
}

/** What a disk says that is not full, by its code. */
const diskErrors: Readonly<Record<string, string>> = {
  EIO: "The disk has an error",
  EROFS: "The disk can only be read",
  EMFILE: "The service has too many files open",
  ENFILE: "The system has too many files open",
};

/** Turns whatever was thrown into an answer. What a person did not cause is logged under a short id. */
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

const shownUrl = 200;

/** What was asked for, as the log says it: short, since anybody can ask for anything. */
export function requestLine({ method, url = "" }: IncomingMessage): string {
  // What somebody puts behind the address of the sign-in may be a password.
  const visible = url.includes("sign-in") ? url.split("?", 1).join() : withoutLink(url);
  return `${method} ${visible.length > shownUrl ? `${visible.slice(0, shownUrl)}…` : visible}`;
}

/** Whoever reads a link's value can use it. */
function withoutLink(url: string): string {
  const at = url.indexOf("?");
  const hasLink = at >= 0 && new URLSearchParams(url.slice(at)).has("link");
  return hasLink ? `${url.slice(0, at)}?link=…` : url;
}

/** A message in the shape that the client asked for: a page, a fragment or one line. */
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
      ...htmlReply(errorFragment(frameOf(request), refusal), status),
      refusal: message,
      // Whatever part of the answer the script asked for.
      headers: { ...headers, "HX-Reselect": "unset", "HX-Reswap": "innerHTML", "HX-Retarget": "#message" },
    };
  }
  if (!takesPages(request)) return { ...textReply(status, message, headers), refusal: message };
  const links = nextLinks(request, status);
  const page = htmlReply(errorPage(frameOf(request), status, refusal, links), status);
  return { ...page, refusal: message, headers };
}

/** Whether a request asks for something, and changes nothing. */
export function isReading({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/** Whether the sender can show pages. */
export function takesPages({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? "");
}

/** Whether the sender, no script of ours, names plain text as what it can read, and no pages. */
export function wantsLine(request: IncomingMessage): boolean {
  const { accept = "", "hx-request": script } = request.headers;
  return script === undefined && /\btext\/plain\b/i.test(accept) && !takesPages(request);
}
