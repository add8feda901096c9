import { type Reply, textReply } from "./answers/reply.ts";
import type { Context } from "./router.ts";

/** `GET /metrics`, where `METRICS` is on */
export async function show({ app }: Context): Promise<Reply> {
  return {
    ...textReply(200, ""),
    type: "text/plain; version=0.0.4; charset=utf-8",
    body: await app.metrics.text(),
  };
}
