import { jsonReply, type Reply } from "./reply.ts";

/** `GET /health` */
export function show(): Reply {
  return jsonReply({ status: "ok" });
}
