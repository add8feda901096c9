import type { Answer } from "./answers.ts";
import { graphError, Refusal, signInError, storageError } from "./answers.ts";
import type { Area, Seen } from "./requests.ts";

/** Something that goes wrong with requests: all that is said of which must hold. */
export interface Fault {
  /** The request of that number, counted from 1 from when the fault was set. */
  readonly at?: number;
  readonly area?: Area;
  readonly method?: string;
  readonly path?: RegExp;
  /** What must be asked for in the query: `comp=block&` or so. */
  readonly query?: RegExp;
  /** How many of the requests that match; 1 where nothing is said. */
  readonly times?: number;
  /** Whether the request has its effect all the same. */
  readonly when?: "before" | "after";
  /** What is answered instead: a status, */
  readonly status?: number;
  readonly retryAfter?: number | string;
  readonly code?: string;
  /** or this, with status 200: an object as JSON, a text as it is, */
  readonly body?: object | string;
  /** or the connection is broken, */
  readonly reset?: boolean;
  /** or the right answer comes late. */
  readonly delayMs?: number;
}

/** What becomes of a request. */
interface Fate {
  readonly when: "before" | "after" | "never";
  readonly delayMs: number;
  readonly reset: boolean;
  readonly refusal: Refusal;
  /** What is answered in place of a refusal. */
  readonly instead?: Answer;
}

const harmless = new Refusal(500, "None", "");

/** The faults of a tenant that are still to come. */
export class Faults {
  #live: { fault: Fault; from: number; left: number }[] = [];
  #stop: { at: number; when: "before" | "after" } | undefined;

  /** @param seen the requests that there were */
  add(fault: Fault, seen: number): void {
    this.#live.push({ fault, from: seen, left: fault.times ?? 1 });
  }

  stopAt(at: number, when: "before" | "after"): void {
    this.#stop = { at, when };
  }

  clear(): void {
    this.#live = [];
    this.#stop = undefined;
  }

  /** How many were set and never happened. */
  get left(): number {
    return this.#live.reduce((sum, { left }) => sum + left, 0);
  }

  fateOf(seen: Seen): Fate {
    const stop = this.#stop;
    if (stop && seen.number >= stop.at) return stopped(seen.number === stop.at ? stop.when : "before");
    const live = this.#live.find(({ fault, from, left }) => left > 0 && matches(fault, seen, from));
    if (!live) return { when: "never", delayMs: 0, reset: false, refusal: harmless };
    live.left--;
    return fateBy(live.fault);
  }
}

function matches(fault: Fault, seen: Seen, from: number): boolean {
  return (
    (fault.at === undefined || from + fault.at === seen.number) &&
    (fault.area === undefined || fault.area === seen.area) &&
    (fault.method === undefined || fault.method === seen.method) &&
    (fault.path === undefined || fault.path.test(seen.path)) &&
    (fault.query === undefined || fault.query.test(seen.query.toString()))
  );
}

function stopped(when: "before" | "after"): Fate {
  const refusal = new Refusal(400, "SimulatedStop", "The simulation stops here.");
  return { when, delayMs: 0, reset: false, refusal };
}

function fateBy(fault: Fault): Fate {
  const { when = "before", status, retryAfter, code, reset = false, delayMs = 0, body } = fault;
  if (body !== undefined) return { when, delayMs, reset, refusal: harmless, instead: { status: 200, body } };
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

/** A refusal in the words of the area that it happens in. */
export function refusalIn(area: Area, refusal: Refusal): Answer {
  if (area === "storage") return storageError(refusal);
  return area === "login" ? signInError(refusal) : graphError(refusal);
}
