import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../../app.ts";
import { nameOf } from "../../domain/access/access.ts";
import type { RouteMatch } from "../router.ts";
import { senderOf } from "../sender.ts";

/** The status for a client that left before the answer ended. nginx uses it for one that left before it began. */
const clientLeft = 499;

/** @returns a function that logs and counts the request when its answer has ended */
export function recordRequest(
  { logRequest, metrics }: App,
  request: IncomingMessage,
  response: ServerResponse,
  match: RouteMatch,
): () => void {
  const { socket } = request;
  const [startedAt, bytesBefore] = [performance.now(), socket.bytesWritten];
  return () => {
    const { id, identity } = senderOf(request);
    const entry = {
      id,
      method: request.method ?? "",
      route: match.kind === "route" ? match.route.path : "-",
      status: response.writableEnded ? response.statusCode : clientLeft,
      bytes: socket.bytesWritten - bytesBefore,
      ms: Math.round(performance.now() - startedAt),
      who: nameOf(identity),
    };
    logRequest(entry);
    metrics.record(entry);
  };
}
