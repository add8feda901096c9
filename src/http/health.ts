import { jsonReply, type Reply } from "./answers/reply.ts";

/** `GET /health` */
export function show(): Reply {
  return jsonReply({ status: "ok" });
}
