import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Config } from "../../config.ts";
import { isTrusted } from "../../domain/access/proxies.ts";
import { plainAddress } from "../../domain/address.ts";
import type { LimitedLog } from "../../domain/flood-limit.ts";
import type { Quota } from "../../workers/admission.ts";

/**
 * Accepts a connection, or refuses it if its client, or all clients together, have too many. A trusted proxy's
 * connections have only the limit of all clients, because its clients are not known before the first request.
 */
export function admit(socket: Socket, connections: Quota, { proxies }: Config, log: LimitedLog): void {
  const address = plainAddress(socket.remoteAddress ?? "") ?? "";
  const release = connections.take(isTrusted(proxies, address) ? undefined : address);
  if (release !== undefined) {
    socket.once("close", release);
    return;
  }
  log(`refused with 503: ${connections.refusal} (${address})`, connections.refusal);
  const body = `${connections.refusal}\n`;
  const head = `HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Type: text/plain; charset=utf-8`;
  socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.destroySoon();
}

/**
 * Answers one request of a connection at a time. Node emits all pipelined requests at once. Here, each waits until the
 * previous answer was sent.
 * @param max how many requests may run or wait; a connection with more is closed
 */
export function answerInOrder(
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
      // After an answer that ends the connection, further requests are ignored.
      if (socket.destroyed || socket.writableEnded) return;
      const closed = new Promise((resolve) => response.once("close", resolve));
      await yieldToRequests();
      await Promise.all([answer(request, response), closed]);
      queue.count--;
    });
  };
}

/** Node accepts one connection in each turn of its event loop. */
const loopTurns = 16;

let lastPause: Promise<void> = Promise.resolve();

/**
 * Pauses so that Node can accept new connections and requests, which a series of answers would delay. Callers wait in
 * order, so that there is a pause before each answer.
 */
export function yieldToRequests(): Promise<void> {
  lastPause = lastPause.then(async () => {
    for (let i = 0; i < loopTurns; i++) await new Promise(setImmediate);
  });
  return lastPause;
}
