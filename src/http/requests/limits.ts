/** Limits for all clients together, and for the speed of each. */
export const defaultLimits = {
  connections: 1024,
  /** Requests of one connection that are running or waiting. */
  pipelinedRequests: 32,
  /** Pages that are being made or waiting. */
  pages: 256,
  /** Bytes of forms being received and pages being sent, which are in memory. Uploaded files do not count. */
  bodyBytes: 96 * 1024 * 1024,
  /** Request line and headers together. */
  headBytes: 16 * 1024,
  /** The longest time for a request's head, from the start of the connection or, later, from the head's first byte. */
  headMs: 30_000,
  /** A connection without a request is closed this long after its last answer. */
  keepAliveMs: 10_000,
  /**
   * A connection without traffic for this long is closed, even if it waits for an answer. The system buffers about 4 MB
   * and reports progress only after each third of that: for a client at 5 KB a second, every 270 seconds.
   */
  idleMs: 10 * 60_000,
  /** The longest time for reading the unused rest of a body, before the answer is sent and the connection closed. */
  drainMs: 60_000,
  /** At least `minBodyBytes` of a body must arrive in each period of this length, else the connection is closed. */
  slowMs: 60_000,
  minBodyBytes: 64 * 1024,
};

export type Limits = Readonly<typeof defaultLimits>;
