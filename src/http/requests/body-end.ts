import type { IncomingMessage } from "node:http";

const checks = new WeakMap<IncomingMessage, () => Promise<void>>();

/** Has something asked when a request's body is there, which may take hours to come, and before anything is made of it. */
export function whenBodyIsRead(request: IncomingMessage, check: () => Promise<void>): void {
  checks.set(request, check);
}

/** Called by whatever reads a body, at its end. @throws what the check throws */
export function bodyIsRead(request: IncomingMessage): Promise<void> {
  return askAgain(request);
}

/** Called once more right before something is written of a body that was long worked on. @throws what the check throws */
export async function askAgain(request: IncomingMessage): Promise<void> {
  await checks.get(request)?.();
}
