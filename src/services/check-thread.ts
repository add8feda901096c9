import type { MessagePort } from "node:worker_threads";
import { messageOf } from "../domain/errors.ts";
import { readFileFacts } from "../store/records.ts";
import type { CheckAnswer } from "./database-check.ts";

/** The role of a thread that reads one database. */
export function serveCheck(port: MessagePort): void {
  port.once("message", (path: string) => void answer(port, path));
}

async function answer(port: MessagePort, path: string): Promise<void> {
  const found: CheckAnswer = await readFileFacts(path).then(
    (facts) => ({ facts }),
    (error: unknown) => ({ problem: messageOf(error) }),
  );
  port.postMessage(found);
}
