import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Config } from "../../config.ts";
import { plainAddress } from "../../domain/address.ts";
import type { LimitedLog } from "../../services/limited-log.ts";
import { lastAnswer } from "../answers/answer-headers.ts";

/** Limits of a request's head. `answerBrokenRequests` answers the heads that node refuses. */
export const headLimits = {
  /** Request line and headers together. */
  bytes: 16 * 1024,
  headers: 100,
} as const;

interface HeadProblem {
  readonly status: number;
  readonly message: string;
}

/** Problems that node's parser accepts. Undefined for a head that a proxy in front reads the same way as Platen. */
export function headProblem({ httpVersion, rawHeaders }: IncomingMessage): HeadProblem | undefined {
  if (rawHeaders.length / 2 > headLimits.headers) {
    return { status: 431, message: `A request has ${headLimits.headers} headers at most.` };
  }
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host").length;
  if (hosts > 1) return { status: 400, message: "This request names its host more than once." };
  // HTTP/1.1 requires a host (RFC 9112, 3.2).
  if (hosts === 0 && httpVersion === "1.1") return { status: 400, message: "This request names no host." };
  return undefined;
}

const broken = { status: 400, message: "This is no HTTP request that this service understands." };

/** By the code of node's error. */
const problems: Readonly<Record<string, HeadProblem>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: `The head of a request has ${headLimits.bytes / 1024} KB at most.`,
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    message: "What stands beside the body’s chunks is too long.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    message: "The request’s head came too slowly.",
  },
};

/**
 * Replaces node's own answers with ones that have Platen's headers: to a broken, large or slow head, to CONNECT, and to an
 * `Expect` header. The connection ends with the answer.
 */
export function answerBrokenRequests(
  server: Server,
  config: Pick<Config, "publicUrl">,
  lines: LimitedLog,
): void {
  const answers = new WeakMap<Socket, ServerResponse>();
  server.on("request", ({ socket }, response) => answers.set(socket, response));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const { status, message } = problems[error.code ?? ""] ?? broken;
    lines.logRefused(status, message, plainAddress(socket.remoteAddress ?? "") ?? "");
    endWith(socket, answers.get(socket), lastAnswer(config, status, message));
  });
  server.on("connect", (_request, socket: Socket) => {
    endWith(socket, answers.get(socket), lastAnswer(config, 405, "This service is no proxy."));
  });
  server.on("checkExpectation", ({ socket }) => {
    endWith(socket, answers.get(socket), lastAnswer(config, 417, "This service expects 100-continue alone."));
  });
}

/** A refused client may send for this long: a connection closed at once would lose the answer. */
const lingerMs = 1_000;

/** Ends a connection with an answer, unless another one is being sent. */
export function endWith(socket: Socket, running: ServerResponse | undefined, answer: string): void {
  if (socket.writableEnded) return;
  socket.on("error", () => {});
  const isBusy = running?.headersSent && !running.writableFinished;
  if (isBusy || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(answer);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("end", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
  socket.resume();
}
