import type { IncomingMessage } from "node:http";

const checks = new WeakMap<IncomingMessage, () => Promise<void>>();

/** Sets what `recheckSender` calls for a request: whether its sender still may do what they began. */
export function onBodyRead(request: IncomingMessage, check: () => Promise<void>): void {
  checks.set(request, check);
}

/**
 * Called at the end of a request's body, which may take hours to come, and again right before something is written
 * of a body that was long worked on. @throws what the check throws
 */
export async function recheckSender(request: IncomingMessage): Promise<void> {
  await checks.get(request)?.();
}
