import { randomUUID } from "node:crypto";
import type { Area } from "./requests.ts";

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
  const inner = { _version: 3, Message: message, CustomApiErrorPhrase: "" };
  return new Refusal(400, "BadRequest", JSON.stringify(inner));
}

export function notFound(what: string): Refusal {
  return new Refusal(404, "ResourceNotFound", `Resource '${what}' does not exist.`);
}

/** The error answer in the format of the area. */
export function refusalIn(area: Area, { status, code, message, headers }: Refusal): Answer {
  const id = randomUUID();
  if (area === "graph") {
    const error = { code, message, innerError: { "request-id": id } };
    return { status, headers: { ...headers, "request-id": id }, body: { error } };
  }
  if (area === "storage") {
    const body = `\ufeff<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
    return {
      status,
      headers: { ...headers, "content-type": "application/xml", "x-ms-request-id": id },
      body,
    };
  }
  const error_description = `${message}\r\nTrace ID: ${id}\r\nTimestamp: ${new Date().toISOString()}`;
  const error_codes = [Number(/AADSTS(\d+)/.exec(message)?.[1] ?? 0)];
  return { status, headers, body: { error: code, error_description, error_codes } };
}
