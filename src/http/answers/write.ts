import type { ServerResponse } from "node:http";
import type { OpenDownload } from "./reply.ts";

/** Bytes of a write: so few that a slow client takes them in time. */
const pieceBytes = 256 * 1024;

/**
 * Writes one piece after the other, each only when the one before has left: a chunk's buffer is used again then.
 * @param stalledMs a client that does not take a piece in this time has its connection closed
 * @param begin called before the first of them
 * @throws when the client leaves or is too slow; the source is closed in any case
 */
export async function writeAll(
  response: ServerResponse,
  chunks: ReturnType<OpenDownload["chunks"]>,
  stalledMs: number,
  begin = () => {},
): Promise<void> {
  let isBegun = false;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      if (!isBegun) begin();
      isBegun = true;
      await write(response, chunk.subarray(at, at + pieceBytes), stalledMs);
    }
  }
  response.end();
}

async function write(response: ServerResponse, piece: Uint8Array, stalledMs: number): Promise<void> {
  let fail: (error: Error) => void = () => {};
  const left = () =>
    fail(Object.assign(new Error("the client left"), { code: "ERR_STREAM_PREMATURE_CLOSE" }));
  const slow = setTimeout(() => fail(new Error("the client is too slow")), stalledMs);
  response.once("close", left);
  try {
    await new Promise<void>((resolve, reject) => {
      fail = reject;
      response.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    clearTimeout(slow);
    response.off("close", left);
  }
}
