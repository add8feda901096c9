import type { IncomingHttpHeaders } from "node:http";
import { badRequest, Refusal } from "./answers.ts";

export type Area = "graph" | "login" | "storage" | "identity";

/** A received request, kept for the tests. Bodies of storage requests are not kept. */
export interface ReceivedRequest {
  /** Counted from 1 in each tenant, over all three areas. */
  readonly number: number;
  readonly area: Area;
  readonly method: string;
  /** Decoded, below the tenant's address for this area: `/beta/deviceAppManagement/…`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly length: number;
  /** The parsed JSON or form; JSON that does not parse stays a string. */
  readonly body: unknown;
  /** Status of the answer; 0 before the answer, or when the connection was reset. */
  status: number;
}

/** @throws a refusal when the body is not UTF-8 */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw badRequest("The request's body is not UTF-8.");
  }
}

/** @throws a refusal when the body is not JSON, or its Content-Type is not */
export function jsonOf(headers: IncomingHttpHeaders, bytes: Buffer): unknown {
  const type = (headers["content-type"] ?? "").toLowerCase().replaceAll(" ", "");
  if (type !== "application/json" && type !== "application/json;charset=utf-8")
    throw new Refusal(415, "UnsupportedMediaType", `Content-Type must be application/json, found '${type}'.`);
  const text = textOf(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest("The request's body is not JSON.");
  }
}

/** The body for `ReceivedRequest`; never throws. */
export function parsedBody(area: Area, bytes: Buffer): unknown {
  if (area === "storage" || bytes.length === 0) return undefined;
  if (area === "identity") return undefined;
  if (area === "login") return Object.fromEntries(new URLSearchParams(bytes.toString("utf8")));
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return bytes.toString("utf8");
  }
}
