import type { Answer } from "./answers.ts";
import { graphError, Refusal, signInError, storageError } from "./answers.ts";
import type { Area, ReceivedRequest } from "./requests.ts";

/** A fault for the requests that match all of its conditions. */
export interface Fault {
  /** Number of the request, counted from 1 after the fault was set. */
  readonly at?: number;
  readonly area?: Area;
  readonly method?: string;
  readonly path?: RegExp;
  /** Must match the query, for example `/comp=block&/`. */
  readonly query?: RegExp;
  /** Number of matching requests that fail; 1 by default. */
  readonly times?: number;
  /** `after`: the request still has its effect; `before`, the default: it has none. */
  readonly when?: "before" | "after";
  /** The status of the error answer. */
  readonly status?: number;
  readonly retryAfter?: number | string;
  readonly code?: string;
  /** Answered with status 200 instead of an error: an object as JSON, a string as it is. */
  readonly body?: object | string;
  /** Whether the connection is reset instead of an answer. */
  readonly reset?: boolean;
  /** Milliseconds that the answer is delayed; alone, it is the right answer. */
  readonly delayMs?: number;
}

interface FaultEffect {
  readonly when: "before" | "after" | "never";
  readonly delayMs: number;
  readonly reset: boolean;
  readonly refusal: Refusal;
  /** Answered instead of `refusal`. */
  readonly instead?: Answer;
}

const noRefusal = new Refusal(500, "None", "");

/** The pending faults of a tenant. */
export class Faults {
  #live: { fault: Fault; from: number; left: number }[] = [];
  #stop: { at: number; when: "before" | "after" } | undefined;

  /** @param requestCount number of the requests received so far */
  add(fault: Fault, requestCount: number): void {
    this.#live.push({ fault, from: requestCount, left: fault.times ?? 1 });
  }

  stopAt(at: number, when: "before" | "after"): void {
    this.#stop = { at, when };
  }

  clear(): void {
    this.#live = [];
    this.#stop = undefined;
  }

  /** Number of failures still to come. */
  get left(): number {
    return this.#live.reduce((sum, { left }) => sum + left, 0);
  }

  effectOn(received: ReceivedRequest): FaultEffect {
    const stop = this.#stop;
    if (stop && received.number >= stop.at)
      return stopped(received.number === stop.at ? stop.when : "before");
    const live = this.#live.find(({ fault, from, left }) => left > 0 && matches(fault, received, from));
    if (!live) return { when: "never", delayMs: 0, reset: false, refusal: noRefusal };
    live.left--;
    return effectOfFault(live.fault);
  }
}

function matches(fault: Fault, received: ReceivedRequest, from: number): boolean {
  return (
    (fault.at === undefined || from + fault.at === received.number) &&
    (fault.area === undefined || fault.area === received.area) &&
    (fault.method === undefined || fault.method === received.method) &&
    (fault.path === undefined || fault.path.test(received.path)) &&
    (fault.query === undefined || fault.query.test(received.query.toString()))
  );
}

function stopped(when: "before" | "after"): FaultEffect {
  const refusal = new Refusal(400, "SimulatedStop", "The simulation stops here.");
  return { when, delayMs: 0, reset: false, refusal };
}

function effectOfFault(fault: Fault): FaultEffect {
  const { when = "before", status, retryAfter, code, reset = false, delayMs = 0, body } = fault;
  if (body !== undefined) return { when, delayMs, reset, refusal: noRefusal, instead: { status: 200, body } };
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  const refusal = new Refusal(status ?? 500, code ?? codes[status ?? 500] ?? "Failed", "A simulated fault.", {
    ...headers,
  });
  return { when: status !== undefined || reset ? when : "never", delayMs, reset, refusal };
}

const codes: Readonly<Record<number, string>> = {
  408: "RequestTimeout",
  429: "TooManyRequests",
  500: "InternalServerError",
  502: "BadGateway",
  503: "ServiceUnavailable",
  504: "GatewayTimeout",
};

/** The error answer in the format of the area. */
export function refusalIn(area: Area, refusal: Refusal): Answer {
  if (area === "storage") return storageError(refusal);
  return area === "graph" ? graphError(refusal) : signInError(refusal);
}
