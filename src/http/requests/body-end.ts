import type { IncomingMessage } from "node:http";

const checks = new WeakMap<IncomingMessage, () => Promise<void>>();

/** Has something asked when a request's body is there, which may take hours to come, and before anything is made of it. */
export function whenBodyIsRead(request: IncomingMessage, check: () => Promise<void>): void {
  checks.set(request, check);
}

/** Called by whatever reads a body, at its end. @throws what the check throws */
export async function bodyIsRead(request: IncomingMessage): Promise<void> {
  await checks.get(request)?.();
}
