/** What all clients together may hold of the service, and how slow one may be. */
export interface Limits {
  readonly connections: number;
  /** Requests of one connection that are answered or wait for it. */
  readonly pipelined: number;
  /** Pages that are made or wait for it. */
  readonly pages: number;
  /** Downloads that are being sent. One client's connections are fewer. */
  readonly downloads: number;
  /** Of forms that are being received and pages that are being sent, which are in memory. Uploaded files do not count. */
  readonly bodyBytes: number;
  /** Within this time a request's head must be whole: from the connection's beginning, or its first byte on an old one. */
  readonly headMs: number;
  /** How often heads that are late are searched for. */
  readonly headCheckMs: number;
  /** A connection on which nothing is asked for after an answer is closed after this time. */
  readonly keepAliveMs: number;
  /** A connection on which nothing moves for so long is closed, whatever it waits for. */
  readonly idleMs: number;
  /** The rest of a body that nobody wants is read for so long, before the answer goes out and the connection ends. */
  readonly drainMs: number;
  /** In so many milliseconds at least `leastBytes` of a body must come, else the connection is closed. */
  readonly slowMs: number;
  readonly leastBytes: number;
  /**
   * A client that takes nothing for so many milliseconds has its connection closed. The system keeps some 4 MB for
   * it and says only when a third of that is gone: one that takes 5 KB a second is heard of every 270 seconds.
   */
  readonly stalledMs: number;
}

export const defaultLimits: Limits = {
  connections: 1024,
  pipelined: 32,
  pages: 256,
  downloads: 768,
  bodyBytes: 96 * 1024 * 1024,
  headMs: 30_000,
  headCheckMs: 5_000,
  keepAliveMs: 10_000,
  idleMs: 10 * 60_000,
  drainMs: 60_000,
  slowMs: 60_000,
  leastBytes: 64 * 1024,
  stalledMs: 5 * 60_000,
};
