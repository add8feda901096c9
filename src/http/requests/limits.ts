/** Limits for all clients together, and for the speed of each. */
export interface Limits {
  readonly connections: number;
  /** Requests of one connection that are running or waiting. */
  readonly pipelinedRequests: number;
  /** Pages that are being made or waiting. */
  readonly pages: number;
  /** Downloads being sent. One client has fewer connections than this. */
  readonly downloads: number;
  /** Bytes of forms being received and pages being sent, which are in memory. Uploaded files do not count. */
  readonly bodyBytes: number;
  /** Request line and headers together. */
  readonly headBytes: number;
  /** The longest time for a request's head, from the start of the connection or, later, from the head's first byte. */
  readonly headMs: number;
  /** How often Node checks for late heads. */
  readonly headCheckMs: number;
  /** A connection without a request is closed this long after its last answer. */
  readonly keepAliveMs: number;
  /**
   * A connection without traffic for this long is closed, even if it waits for an answer. The system buffers about 4 MB
   * and reports progress only after each third of that: for a client at 5 KB a second, every 270 seconds.
   */
  readonly idleMs: number;
  /** The longest time for reading the unused rest of a body, before the answer is sent and the connection closed. */
  readonly drainMs: number;
  /** At least `minBodyBytes` of a body must arrive in each period of this length, else the connection is closed. */
  readonly slowMs: number;
  readonly minBodyBytes: number;
}

export const defaultLimits: Limits = {
  connections: 1024,
  pipelinedRequests: 32,
  pages: 256,
  downloads: 768,
  bodyBytes: 96 * 1024 * 1024,
  headBytes: 16 * 1024,
  headMs: 30_000,
  headCheckMs: 5_000,
  keepAliveMs: 10_000,
  idleMs: 10 * 60_000,
  drainMs: 60_000,
  slowMs: 60_000,
  minBodyBytes: 64 * 1024,
};
