import type { IncomingMessage } from "node:http";
import { getOrAdd } from "../domain/collections.ts";
import type { Reply } from "./answers/reply.ts";
import { senderOf } from "./sender.ts";

interface Running {
  readonly reply: Promise<Reply>;
  readonly controller: AbortController;
  /** The connections of the clients that wait for it. */
  readonly waiting: Set<IncomingMessage["socket"]>;
}

/** The pages and downloads that are being made. Equal requests that arrive meanwhile share the answer. */
export class SharedAnswers {
  readonly #running = new Map<string, Running>();

  /**
   * @param version of the records
   * @param make gets a signal that is aborted when all clients that wait for the answer have left
   * @throws what `make` throws
   */
  async get(
    request: IncomingMessage,
    version: number,
    make: (signal: AbortSignal) => Promise<Reply>,
  ): Promise<Reply> {
    const { socket } = request;
    const key = keyOf(request, version);
    const running = getOrAdd(this.#running, key, () => {
      const controller = new AbortController();
      return { reply: make(controller.signal), controller, waiting: new Set() };
    });
    const forget = () => {
      if (this.#running.get(key) === running) this.#running.delete(key);
    };
    const leave = () => {
      running.waiting.delete(socket);
      if (running.waiting.size > 0) return;
      running.controller.abort(new Error("the client left"));
      forget();
    };
    running.waiting.add(socket);
    socket.once("close", leave);
    try {
      return await running.reply;
    } finally {
      socket.off("close", leave);
      forget();
    }
  }
}

/** Requests with the same key get the same answer: it depends on the sender, the whole head and the records. */
function keyOf(request: IncomingMessage, version: number): string {
  const { identity, address } = senderOf(request);
  return JSON.stringify([version, identity, address, request.method, request.url, request.headers]);
}
