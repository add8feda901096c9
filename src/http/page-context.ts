import type { IncomingMessage } from "node:http";
import { roleOf } from "../domain/access/access.ts";
import type { Frame, Message } from "../html/layout.ts";
import { senderOf } from "./access/sender.ts";
import { assets } from "./assets.ts";

/** What a page for the sender of a request is given. */
export function frameOf(request: IncomingMessage, message?: Message): Frame {
  const { identity, signedIn, canSignIn, isOpenToAll } = senderOf(request);
  const name = identity.kind === "person" ? identity.name : undefined;
  const isSignedInHere = signedIn !== undefined;
  const visitor = { name, role: roleOf(identity), isSignedInHere, canSignIn, isOpenToAll };
  return { assets, visitor, message };
}
