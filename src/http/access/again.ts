import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { UserError } from "../../domain/errors.ts";
import { currentActor } from "../../store/audit/actor.ts";
import type { Asked } from "../router.ts";
import { refusalOf } from "./access.ts";
import { recognise } from "./recognise.ts";
import { noteRefused, noteUnrecognised } from "./refused.ts";

/**
 * Asks again whether somebody may do what they began: a request that is sent slowly must not outlive its sender's rights.
 * @throws UserError "forbidden", or why they are not recognised any more
 */
export async function checkAgain(app: App, request: IncomingMessage, asked: Asked): Promise<void> {
  const { identity, address } = await recognise(app, request, asked).catch((error: unknown) => {
    noteUnrecognised(app, request, asked, error);
    throw error;
  });
  if (refusalOf(app, request, identity, asked.found) === undefined) return;
  const { who } = currentActor();
  noteRefused(app, request, asked, { actor: { who, from: address } });
  throw new UserError(
    "forbidden",
    "Your rights ended while this was being sent: nothing was changed. Sign in again.",
  );
}
