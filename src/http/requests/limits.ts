import { siteOf } from "../../domain/site.ts";

/**
 * So much of something that clients hold, counted or in bytes. No client's address may have more than half of
 * it, so that one client, however slow or hostile, leaves some for the others.
 */
class Quota {
  readonly #limit: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Takes a share for a client.
   * @param isMany whether it stands for many clients, and may have all that there is
   * @returns what gives the share back, once; undefined when there is not enough left
   */
  take(address: string, amount = 1, isMany = false): (() => void) | undefined {
    if (!this.has(address, amount, isMany)) return undefined;
    const client = siteOf(address);
    this.#add(client, amount);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(client, -amount);
      isHeld = false;
    };
  }

  /** Whether a client could take so much now. */
  has(address: string, amount: number, isMany = false): boolean {
    const held = this.#held.get(siteOf(address)) ?? 0;
    return this.#total + amount <= this.#limit && (isMany || held + amount <= this.#limit / 2);
  }

  #add(client: string, amount: number): void {
    this.#total += amount;
    const held = (this.#held.get(client) ?? 0) + amount;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }
}

/** What all clients together may hold of the service, and how slow one may be. */
export interface Limits {
  readonly connections: number;
  /** Requests of one connection that wait for the one before them. */
  readonly pipelined: number;
  /** Pages that wait for their turn to be made. */
  readonly pages: number;
  /** Of pages and other answers in memory that are being sent. */
  readonly pageBytes: number;
  /** Of requests' bodies that are being received: so much of each is kept in memory, files apart. */
  readonly bodyBytes: number;
  /** Packages and archives that are being sent. */
  readonly downloads: number;
  /** Intune packages that are being sent: each holds chunks and a worker thread's time. */
  readonly encryptedDownloads: number;
  /** From a connection's first moment, or from a request's first byte, until its head is whole. */
  readonly headMs: number;
  /** How often heads that are late are looked for. */
  readonly headLookMs: number;
  /** A connection on which nothing is asked for after an answer is closed after this time. */
  readonly keepAliveMs: number;
  /** A connection on which nothing moves for so long is closed, whatever it waits for. */
  readonly idleMs: number;
  /** So long the rest of a body is read that nobody wants, before the answer goes out and the connection ends. */
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
  pageBytes: 96 * 1024 * 1024,
  bodyBytes: 64 * 1024 * 1024,
  downloads: 512,
  encryptedDownloads: 32,
  headMs: 30_000,
  headLookMs: 5_000,
  keepAliveMs: 10_000,
  idleMs: 10 * 60_000,
  drainMs: 60_000,
  slowMs: 60_000,
  leastBytes: 64 * 1024,
  stalledMs: 5 * 60_000,
};

/** The quotas of one running server. */
export interface Quotas {
  readonly connections: Quota;
  readonly pages: Quota;
  readonly pageBytes: Quota;
  readonly bodyBytes: Quota;
  readonly downloads: Quota;
  readonly encryptedDownloads: Quota;
}

export function makeQuotas(limits: Limits): Quotas {
  return {
    connections: new Quota(limits.connections),
    pages: new Quota(limits.pages),
    pageBytes: new Quota(limits.pageBytes),
    bodyBytes: new Quota(limits.bodyBytes),
    downloads: new Quota(limits.downloads),
    encryptedDownloads: new Quota(limits.encryptedDownloads),
  };
}
