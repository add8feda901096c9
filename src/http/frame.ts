import type { IncomingMessage } from "node:http";
import { roleOf } from "../domain/access.ts";
import type { Frame, Message } from "../html/layout.ts";
import { askerOf } from "./asker.ts";
import { assets } from "./assets.ts";

/** What a page for the sender of a request is given. */
export function frameOf(request: IncomingMessage, message?: Message): Frame {
  const { identity, isOpenToAll } = askerOf(request);
  const name = identity.kind === "person" ? identity.name : undefined;
  return { assets, visitor: { name, role: roleOf(identity), isOpenToAll }, message };
}
