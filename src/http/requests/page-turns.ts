import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import { nameOf, roleOf } from "../../domain/access.ts";
import { UserError } from "../../domain/errors.ts";
import { siteOf } from "../../domain/site.ts";
import { Latest } from "../../services/latest.ts";
import { askerOf } from "../access/asker.ts";
import type { Reply } from "../answers/reply.ts";
import type { Quotas } from "./limits.ts";

/** What let the event loop rest for so long waits for something else than it, and nobody waits for that. */
const restMs = 10;
/** Nobody waits for longer than this, whatever is worked on. */
const longMs = 250;
/** So many turns of the event loop without anything new an answer waits for what comes at the moment, and so long at most. */
const quietTurns = 3;
const inMs = 50;

/**
 * Makes one answer after the other, and lets the event loop go between two: who asks for anything else waits for one of
 * them at most. Clients come in turn, so that one who asks for many keeps others from none.
 */
class AnswerTurns {
  /** By client, the next one first. */
  readonly #waiting = new Map<string, (() => Promise<unknown>)[]>();
  #isBusy = false;
  #arrivals = 0;

  /** Says that a connection or a request came. */
  arrived(): void {
    this.#arrivals++;
  }

  /** Makes an answer, or a part of one, in its turn. */
  run<T>(request: IncomingMessage, make: () => T | Promise<T>): Promise<T> {
    const client = siteOf(askerOf(request).address);
    return new Promise<T>((resolve, reject) => {
      // Turns are given by who asked before: what is made in them is made in the name of who asked for it.
      const work = AsyncResource.bind(async () => make());
      const queue = this.#waiting.get(client) ?? [];
      queue.push(() => work().then(resolve, reject));
      this.#waiting.set(client, queue);
      if (!this.#isBusy) this.#plan();
    });
  }

  #plan(): void {
    this.#isBusy = this.#waiting.size > 0;
    if (this.#isBusy) this.#letIn(quietTurns, performance.now());
  }

  /** A turn of the event loop takes in one connection, so that many have to come before the next answer is made. */
  #letIn(turns: number, since: number): void {
    const seen = this.#arrivals;
    setImmediate(() => {
      const left = seen === this.#arrivals ? turns - 1 : quietTurns;
      if (left === 0 || performance.now() - since > inMs) this.#next();
      else this.#letIn(left, since);
    });
  }

  #next(): void {
    const [[client, queue] = ["", []]] = this.#waiting;
    const work = queue.shift();
    this.#waiting.delete(client);
    if (queue.length > 0) this.#waiting.set(client, queue);
    let isOver = false;
    const end = () => {
      clearInterval(timer);
      if (!isOver) this.#plan();
      isOver = true;
    };
    const [before, started] = [performance.eventLoopUtilization(), performance.now()];
    const timer = setInterval(() => {
      const { idle } = performance.eventLoopUtilization(before);
      if (idle >= restMs || performance.now() - started >= longMs) end();
    }, restMs);
    void work?.().finally(end);
  }
}

export const pageTurns = new AnswerTurns();
/** Of packages, scripts and lists to take away: who waits for a page waits for none of them. */
const downloadTurns = new AnswerTurns();

/** Makes a download in its turn. */
export function downloadInTurn<T>(request: IncomingMessage, make: () => T | Promise<T>): Promise<T> {
  return downloadTurns.run(request, () => {
    if (isGone(request)) throw clientLeft();
    return make();
  });
}

function isGone({ socket }: IncomingMessage): boolean {
  return socket.destroyed;
}

/** Who left gets no answer: the error only says so. */
function clientLeft(): Error {
  return new Error("the client left");
}

/** Says to all turns that a connection or a request came. */
export function arrived(): void {
  for (const turns of [pageTurns, downloadTurns]) turns.arrived();
}

/** Headers that shape no page; who asks with other ones than these may be answered something else. */
const shapeless = new Set([
  "accept-encoding",
  "accept-language",
  "cache-control",
  "connection",
  "content-length",
  "cookie",
  "dnt",
  "pragma",
  "priority",
  "user-agent",
]);

/** A page that waits for its turn, with all who asked for it until then. */
interface AskedPage {
  readonly askers: IncomingMessage[];
  readonly reply: Promise<Reply>;
}

/** So many pages' lengths are remembered. */
const mostLengths = 1000;

/** The pages of a service that are asked for with GET. */
export class Pages {
  readonly #quotas: Quotas;
  readonly #asked = new Map<string, AskedPage>();
  /** In characters, by path: what a page will hold of its quota. */
  readonly #lengths = new Latest<string, number>(mostLengths);

  constructor(quotas: Quotas) {
    this.#quotas = quotas;
  }

  /**
   * Makes a page in its turn, once for all who ask for the same before it is begun.
   * @param path the address without its query
   * @param isShared false where each request gets a page of its own
   * @throws UserError "busy" before any work, where the client waits for too many pages or takes none of its last ones
   */
  async reply(
    request: IncomingMessage,
    path: string,
    make: () => Reply | Promise<Reply>,
    isShared = true,
  ): Promise<Reply> {
    if (!this.#hasRoom(request, path)) throw busy();
    const key = keyOf(request);
    const same = isShared ? this.#asked.get(key) : undefined;
    if (same !== undefined) {
      same.askers.push(request);
      return same.reply;
    }
    const release = this.#quotas.pages.take(askerOf(request).address);
    if (release === undefined) throw busy();
    const askers = [request];
    const begin = async () => {
      this.#asked.delete(key);
      if (askers.every(isGone)) throw clientLeft();
      // What others were sent meanwhile may have filled the share.
      if (!askers.some((asker) => this.#hasRoom(asker, path))) throw busy();
      const reply = await make();
      if (reply.kind === "text") this.#lengths.set(path, reply.body.length);
      return reply;
    };
    const reply = pageTurns.run(request, begin).finally(release);
    if (isShared) this.#asked.set(key, { askers, reply });
    return reply;
  }

  /** Whether a client may hold one more page like the last at this path. */
  #hasRoom(request: IncomingMessage, path: string): boolean {
    return this.#quotas.pageBytes.has(askerOf(request).address, this.#lengths.get(path) ?? 0);
  }
}

/** Equal for requests that are answered alike. */
function keyOf(request: IncomingMessage): string {
  // Pages hold addresses of this service, as whoever asks reaches it.
  const { identity, isProxied, scheme, host } = askerOf(request);
  const shaping = Object.entries(request.headers).filter(([name]) => !shapeless.has(name));
  const who = [roleOf(identity), nameOf(identity), askerOf(request).signedIn?.session.id];
  return JSON.stringify([request.url, ...who, isProxied, scheme, host, shaping]);
}

function busy(): UserError {
  return new UserError("busy", "Too many pages are asked for at the moment. Try again in a few seconds.");
}
