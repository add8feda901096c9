import type { IncomingHttpHeaders } from "node:http";
import { Refusal, wrong } from "./answers.ts";

export type Area = "graph" | "login" | "storage";

/** A request as it arrived, kept for a test to look at; of what goes to the storage only the length is kept. */
export interface Seen {
  /** From 1, counted for each tenant over everything that it answers. */
  readonly number: number;
  readonly area: Area;
  readonly method: string;
  /** Decoded, below the address that the tenant gave for this area: `/beta/deviceAppManagement/…`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly length: number;
  /** The parsed JSON or form. */
  readonly body: unknown;
  /** What was answered; 0 where the connection was broken instead or nothing was answered yet. */
  status: number;
  /** Whether it was let through to do what it asks for; it may have been refused there. */
  hasEffect: boolean;
}

/** The body of a request as text. @throws a refusal when it is no UTF-8 */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw wrong("The request's body is not UTF-8.");
  }
}

/** The body of a request that must be JSON. @throws a refusal when it is not, or not declared as such */
export function jsonOf(headers: IncomingHttpHeaders, bytes: Buffer): unknown {
  const type = (headers["content-type"] ?? "").toLowerCase().replaceAll(" ", "");
  if (type !== "application/json" && type !== "application/json;charset=utf-8")
    throw new Refusal(415, "UnsupportedMediaType", `Content-Type must be application/json, found '${type}'.`);
  const text = textOf(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw wrong("The request's body is not JSON.");
  }
}

/** What can be kept of a body, whether it is right or not. */
export function parsedBody(area: Area, bytes: Buffer): unknown {
  if (area === "storage" || bytes.length === 0) return undefined;
  if (area === "login") return Object.fromEntries(new URLSearchParams(bytes.toString("utf8")));
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return bytes.toString("utf8");
  }
}
