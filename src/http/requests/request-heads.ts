import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Config } from "../../config.ts";
import { plainAddress } from "../../domain/address.ts";
import type { LimitedLog } from "../../services/limited-log.ts";
import { lastAnswer } from "../answers/answer-headers.ts";

/** Limits of a request's head. */
export const headLimits = {
  /** Request line and headers together. */
  bytes: 16 * 1024,
  headers: 100,
} as const;

interface HeadProblem {
  readonly status: number;
  readonly message: string;
}

/** Finds problems that Node's parser accepts, and that a proxy in front may read in another way than Platen. */
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

const broken = { status: 400, message: "This is not a valid HTTP request." };

/** By the code of Node's error. */
const problems: Readonly<Record<string, HeadProblem>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    // Node 20 counts only bytes; later versions also count headers.
    message: `The head of a request has ${headLimits.bytes / 1024} KB at most, and ${headLimits.headers} headers at most.`,
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    message: "The extensions of the body’s chunks are too long.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    message: "The request’s head came too slowly.",
  },
};

/**
 * Answers where Node would answer without Platen's headers: a broken, large or slow head, CONNECT, and `Expect`. Closes
 * the connection after the answer.
 */
export function answerBrokenRequests(
  server: Server,
  config: Pick<Config, "publicUrl">,
  log: LimitedLog,
): void {
  const answers = new WeakMap<Socket, ServerResponse>();
  server.on("request", ({ socket }, response) => answers.set(socket, response));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const { status, message } = problems[error.code ?? ""] ?? broken;
    log.logRefused(status, message, plainAddress(socket.remoteAddress ?? "") ?? "");
    endWith(socket, answers.get(socket), lastAnswer(config, status, message));
  });
  server.on("connect", (_request, socket: Socket) => {
    endWith(socket, answers.get(socket), lastAnswer(config, 405, "Platen is not a proxy."));
  });
  server.on("checkExpectation", ({ socket }) => {
    endWith(
      socket,
      answers.get(socket),
      lastAnswer(config, 417, "This service supports only the expectation 100-continue."),
    );
  });
}

/** A refused client may continue to send for this long: if the connection closed at once, the answer would be lost. */
const lingerMs = 1_000;

/** Closes a connection after an answer; or at once, if `running` is being sent. */
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
