import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { UserError } from "../../domain/errors.ts";
import type { Asked } from "../router.ts";
import { refusalOf } from "./access.ts";
import { recognise } from "./recognise.ts";

/**
 * Asks again whether somebody may do what they began: a request that is sent slowly must not outlive its sender's rights.
 * @throws UserError "forbidden", or why they are not recognised any more
 */
export async function checkAgain(app: App, request: IncomingMessage, asked: Asked): Promise<void> {
  const { identity } = await recognise(app, request, asked);
  if (refusalOf(app, request, identity, asked.found) === undefined) return;
  throw new UserError(
    "forbidden",
    "Your rights ended while this was being sent: nothing was changed. Sign in again.",
  );
}
