import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * One answer at a time for each connection. Node hands over all requests that a client pipelines at once; here
 * they wait until the answer before them is out, and other connections come in between.
 * @param limit requests that may wait; a connection that pipelines more is closed
 */
export function inTurn(
  limit: number,
  answerOne: Answer,
): (request: IncomingMessage, response: ServerResponse) => void {
  const waiting = new WeakMap<Socket, (() => void)[]>();
  const later = onePerTurn();
  return (request, response) => {
    const { socket } = request;
    const queue = waiting.get(socket);
    const start = () => {
      // Behind an answer that ends the connection nothing is a request any more, whatever it looks like.
      if (socket.destroyed || socket.writableEnded) return;
      response.once("close", () => {
        const next = waiting.get(socket)?.shift();
        if (next === undefined) waiting.delete(socket);
        else later(next);
      });
      void answerOne(request, response);
    };
    if (queue === undefined) {
      waiting.set(socket, []);
      start();
    } else if (queue.length < limit) queue.push(start);
    else socket.destroy();
  };
}

/** Does one thing in each turn of the event loop: who asks for little does not wait for all that others pipelined. */
function onePerTurn(): (work: () => void) => void {
  const queue: (() => void)[] = [];
  let isPlanned = false;
  const plan = () => {
    if (!isPlanned && queue.length > 0) setImmediate(turn);
    isPlanned = queue.length > 0;
  };
  const turn = () => {
    isPlanned = false;
    queue.shift()?.();
    plan();
  };
  return (work) => {
    queue.push(work);
    plan();
  };
}
