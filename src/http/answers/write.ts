import type { ServerResponse } from "node:http";
import type { OpenDownload } from "./reply.ts";

/** Bytes of a write: few at first and for slow clients, so that each can be expected to leave in time. */
const leastWriteBytes = 64 * 1024;
const mostWriteBytes = 256 * 1024;
const quickMs = 100;

/** What is called while bytes are written. */
interface Watching {
  /** Before the first of them. */
  readonly begin?: () => void;
  /** With the number of bytes of each piece that has left. */
  readonly left?: (bytes: number) => void;
}

/**
 * Writes one piece after the other, each only when the one before has left: a chunk's buffer is used again then.
 * @param stalledMs a client that does not take a piece in this time has its connection closed
 * @throws when the client leaves or is too slow; the source is closed in any case
 */
export async function writeAll(
  response: ServerResponse,
  chunks: ReturnType<OpenDownload["chunks"]>,
  stalledMs: number,
  { begin = () => {}, left = () => {} }: Watching = {},
): Promise<void> {
  let leave: (error: Error) => void = () => {};
  const gone = new Promise<never>((_, reject) => {
    leave = reject;
  });
  gone.catch(() => {});
  response.once("close", () =>
    leave(Object.assign(new Error("the client left"), { code: "ERR_STREAM_PREMATURE_CLOSE" })),
  );
  let length = leastWriteBytes;
  let isBegun = false;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      if (!isBegun) begin();
      isBegun = true;
      const piece = chunk.subarray(at, at + length);
      at += piece.length;
      const slow = setTimeout(() => leave(new Error("the client is too slow")), stalledMs);
      const started = performance.now();
      await Promise.race([written(response, piece), gone]).finally(() => clearTimeout(slow));
      left(piece.length);
      const isQuick = performance.now() - started < quickMs;
      length = isQuick ? Math.min(2 * length, mostWriteBytes) : leastWriteBytes;
    }
  }
  response.end();
}

function written(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(piece, (error) => (error ? reject(error) : resolve()));
  });
}
