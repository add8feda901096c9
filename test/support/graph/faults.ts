import { type Answer, Refusal, refusalIn } from "./answers.ts";
import type { Area, ReceivedRequest } from "./requests.ts";

/** A fault for the requests that match all of its conditions. */
export interface Fault {
  /** Number of the request, counted from 1 after the fault was set. */
  readonly at?: number;
  readonly area?: Area;
  readonly method?: string;
  readonly path?: RegExp;
  /** Number of matching requests that fail; 1 by default. */
  readonly times?: number;
  /** `after`: the request still has its effect; `before`, the default: it has none. */
  readonly when?: "before" | "after";
  /** The status of the error answer. */
  readonly status?: number;
  readonly retryAfter?: number | string;
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
  /** Undefined: the connection is reset. */
  readonly answer: Answer | undefined;
}

/** The pending faults of a tenant. */
export class Faults {
  #live: { fault: Fault; from: number; left: number }[] = [];
  #stop: { at: number; when: "before" | "after" } | undefined;

  /** @param requestCount number of the requests received so far */
  add(fault: Fault, requestCount: number): void {
    this.#live.push({ fault, from: requestCount, left: fault.times ?? 1 });
  }

  /** Refuses all requests from this one on. With `after` the first one still has its effect. */
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
    const { number, area } = received;
    if (this.#stop && number >= this.#stop.at) {
      const when = number === this.#stop.at ? this.#stop.when : "before";
      const refusal = new Refusal(400, "SimulatedStop", "The simulation stops here.");
      return { when, delayMs: 0, answer: refusalIn(area, refusal) };
    }
    const live = this.#live.find(({ fault, from, left }) => left > 0 && matches(fault, received, from));
    if (!live) return { when: "never", delayMs: 0, answer: undefined };
    live.left--;
    return effectOf(live.fault, area);
  }
}

function matches({ at, area, method, path }: Fault, received: ReceivedRequest, from: number): boolean {
  return (
    (at === undefined || from + at === received.number) &&
    (area === undefined || area === received.area) &&
    (method === undefined || method === received.method) &&
    (path === undefined || path.test(received.path))
  );
}

function effectOf(fault: Fault, area: Area): FaultEffect {
  const { when = "before", status, retryAfter, reset = false, delayMs = 0, body } = fault;
  if (body !== undefined) return { when, delayMs, answer: { status: 200, body } };
  if (reset) return { when, delayMs, answer: undefined };
  if (status === undefined) return { when: "never", delayMs, answer: undefined };
  const headers: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` };
  const code = status === 503 ? "ServiceUnavailable" : "Failed";
  return { when, delayMs, answer: refusalIn(area, new Refusal(status, code, "A simulated fault.", headers)) };
}
