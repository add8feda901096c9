import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Config } from "../../config.ts";
import { isTrusted } from "../../domain/access/proxies.ts";
import { plainAddress } from "../../domain/address.ts";
import type { BoundedLines } from "../../services/limited-log.ts";
import type { Quota } from "../../workers/admission.ts";
import { lastAnswer } from "../answers/answer-headers.ts";
import { endWith } from "./request-heads.ts";

/**
 * Takes a connection, or turns it away where its client or all together have too many. Who is behind a trusted proxy is
 * not known before the first request: its connections count for nobody, and it may have all there are.
 */
export function admit(
  socket: Socket,
  connections: Quota,
  { config, lines }: { readonly config: Config; readonly lines: BoundedLines },
): void {
  const address = plainAddress(socket.remoteAddress ?? "") ?? "";
  const release = connections.take(isTrusted(config.proxies, address) ? undefined : address);
  if (release !== undefined) {
    socket.once("close", release);
    return;
  }
  lines.sayRefused(503, connections.refusal, address);
  endWith(socket, undefined, lastAnswer(config, 503, connections.refusal, { "Retry-After": "5" }));
}

/**
 * Answers one request of a connection at a time. Node hands over all requests that a client pipelines at once; here each
 * waits until the answer before it is out.
 * @param max requests that are answered or wait; a connection that pipelines more is closed
 */
export function oneAtATime(
  max: number,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const queues = new WeakMap<Socket, { count: number; last: Promise<unknown> }>();
  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket) ?? { count: 0, last: Promise.resolve() };
    queues.set(socket, queue);
    if (queue.count >= max) {
      socket.destroy();
      return;
    }
    queue.count++;
    queue.last = queue.last.then(async () => {
      // Behind an answer that ends the connection nothing is a request any more, whatever it looks like.
      if (socket.destroyed || socket.writableEnded) return;
      const closed = new Promise((resolve) => response.once("close", resolve));
      await Promise.all([answer(request, response), closed]);
      queue.count--;
    });
  };
}

/** Node accepts one connection in a turn of its event loop. */
const turnsBetween = 16;

let last: Promise<void> = Promise.resolve();

/**
 * Waits until connections and requests that arrived meanwhile were accepted: a row of pages, each made without a
 * pause, would keep them waiting. Callers wait one after the other, so that there is a pause before each page.
 */
export function letOthersIn(): Promise<void> {
  last = last.then(async () => {
    for (let i = 0; i < turnsBetween; i++) await new Promise(setImmediate);
  });
  return last;
}
