import { randomUUID } from "node:crypto";

/** An answer of a simulated service. A string body is sent as it is, every other body as JSON. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Thrown to refuse a request; becomes the error answer of the service. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A refusal of a request's content in Intune's format: the message itself is JSON. */
export function badRequest(message: string): Refusal {
  const inner = { _version: 3, Message: message, CustomApiErrorPhrase: "", RetryAfter: null };
  return new Refusal(400, "BadRequest", JSON.stringify({ ...inner, HttpHeaders: "{}" }));
}

export function notFound(what: string): Refusal {
  return new Refusal(404, "ResourceNotFound", `Resource '${what}' does not exist.`);
}

export function graphError({ status, code, message, headers }: Refusal): Answer {
  const id = randomUUID();
  const innerError = { date: new Date().toISOString(), "request-id": id, "client-request-id": id };
  const body = { error: { code, message, innerError } };
  return { status, headers: { ...headers, "request-id": id }, body };
}

export function storageError({ status, code, message, headers }: Refusal): Answer {
  const text = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const body = `\ufeff<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${text}</Message></Error>`;
  const id = randomUUID();
  return { status, headers: { ...headers, "content-type": "application/xml", "x-ms-request-id": id }, body };
}

export function signInError({ status, code, message, headers }: Refusal): Answer {
  const trace = randomUUID();
  const description = `${message}\r\nTrace ID: ${trace}\r\nTimestamp: ${new Date().toISOString()}`;
  const codes = [Number(/AADSTS(\d+)/.exec(message)?.[1] ?? 0)];
  const body = { error: code, error_description: description, error_codes: codes, trace_id: trace };
  return { status, headers, body };
}
