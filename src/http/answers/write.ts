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
  let leave: (error: Error) => void = () => {};
  const gone = new Promise<never>((_, reject) => {
    leave = reject;
  });
  gone.catch(() => {});
  response.once("close", () =>
    leave(Object.assign(new Error("the client left"), { code: "ERR_STREAM_PREMATURE_CLOSE" })),
  );
  let isBegun = false;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      if (!isBegun) begin();
      isBegun = true;
      const slow = setTimeout(() => leave(new Error("the client is too slow")), stalledMs);
      const piece = chunk.subarray(at, at + pieceBytes);
      await Promise.race([written(response, piece), gone]).finally(() => clearTimeout(slow));
    }
  }
  response.end();
}

function written(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(piece, (error) => (error ? reject(error) : resolve()));
  });
}
