import type { IncomingHttpHeaders } from "node:http";
import { type Answer, badRequest, Refusal } from "./answers.ts";
import type { Fields } from "./schema.ts";
import type { Tenant } from "./tenant.ts";

export type Area = "graph" | "login" | "storage" | "identity";

/** A received request, kept for the tests. Bodies of storage requests are not kept. */
export interface ReceivedRequest {
  /** Counted from 1 in each tenant, over all areas. */
  readonly number: number;
  readonly area: Area;
  readonly method: string;
  /** Decoded, below the tenant's address for this area: `/beta/deviceAppManagement/…`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON or form; JSON that does not parse stays a string. */
  readonly body: unknown;
}

/** A request to Graph with the parameters of its path. */
export interface Call {
  readonly tenant: Tenant;
  readonly received: ReceivedRequest;
  /** The ids in the path, in order: app, version, file. */
  readonly params: readonly string[];
  /** The URL without its query. */
  readonly address: string;
  /** @throws a refusal when the body is not JSON */
  readonly json: () => unknown;
}

/** @throws a refusal when the body is not JSON in UTF-8, or its Content-Type is not */
export function jsonOf(headers: IncomingHttpHeaders, bytes: Buffer): unknown {
  const type = headers["content-type"] ?? "";
  if (!/^application\/json(; ?charset=utf-8)?$/i.test(type))
    throw new Refusal(415, "UnsupportedMediaType", `Content-Type must be application/json, found '${type}'.`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw badRequest("The request's body is not JSON.");
  }
}

/** The body for `ReceivedRequest`; never throws. */
export function parsedBody(area: Area, bytes: Buffer): unknown {
  if (area === "storage" || bytes.length === 0) return undefined;
  const text = bytes.toString("utf8");
  if (area === "login") return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @throws a refusal of options that are not among `known` */
export function checkOptions({ received }: Call, ...known: readonly string[]): void {
  for (const name of received.query.keys())
    if (!known.includes(name)) throw badRequest(`The query option '${name}' is not supported here.`);
}

/** One page of a list, with the URL of the next page. @param known options that the list has beside those for pages */
export function page(call: Call, items: readonly Fields[], ...known: readonly string[]): Answer {
  checkOptions(call, "$top", "$skiptoken", ...known);
  const { query } = call.received;
  const from = Number(query.get("$skiptoken") ?? 0);
  const to = from + Math.min(Number(query.get("$top") ?? 999), call.tenant.behaviour.pageSize);
  const next = new URLSearchParams(query);
  next.set("$skiptoken", String(to));
  const link = to < items.length ? { "@odata.nextLink": `${call.address}?${next}` } : {};
  return { status: 200, body: { ...link, value: items.slice(from, to) } };
}
