import { setPriority } from "node:os";
import { messageOf, UserError } from "../domain/errors.ts";
import { openSourceBlocking } from "../store/files.ts";
import type { InspectionReply } from "../workers/inspections.ts";
import { inspectArchive } from "./inspect.ts";
import { reportOf } from "./inspect-report.ts";

/** The whole life of an inspection's process: it is sent a path, answers, and is ended by its parent. */
export function serveInspection(): void {
  // Whoever asks the service for a page goes first.
  setPriority(4);
  // A terminal's or a supervisor's signal reaches both: what the parent waits for is not lost by it.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  process.on("uncaughtException", (error) => reply({ kind: "failure", message: messageOf(error) }));
  process.once("message", (path: string) => void answer(path).then(reply));
  reply({ kind: "ready" });
}

async function answer(path: string): Promise<InspectionReply> {
  try {
    const source = openSourceBlocking(path);
    return { kind: "report", report: reportOf(await inspectArchive(source)) };
  } catch (error) {
    const message = messageOf(error);
    return error instanceof UserError
      ? { kind: "failure", code: error.code, message }
      : { kind: "failure", message };
  }
}

/** A parent that is gone hears nothing, and needs nothing. */
function reply(said: InspectionReply): void {
  process.send?.(said, () => {});
}
