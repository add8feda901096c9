import { setPriority } from "node:os";
import { messageOf, UserError } from "../../domain/errors.ts";
import { openSourceBlocking } from "../../store/files.ts";
import type { InspectionAnswer, InspectionReply } from "../../workers/inspection-process.ts";
import { inspectArchive } from "./inspect.ts";
import { reportOf } from "./inspect-report.ts";

/** The whole life of an inspection's process: it is given a path, answers, and is ended by its parent. */
export function serveInspection(path: string): void {
  // Whoever asks the service for a page goes first.
  setPriority(4);
  // A terminal's or a supervisor's signal reaches both: what the parent waits for is not lost by it.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  process.on("uncaughtException", (error) => reply({ kind: "failure", message: messageOf(error) }));
  reply({ kind: "ready" });
  void readArchive(path).then(reply);
}

/** What is to be said of the archive at a path. */
export async function readArchive(path: string): Promise<InspectionAnswer> {
  try {
    const source = openSourceBlocking(path);
    try {
      return { kind: "report", report: reportOf(await inspectArchive(source)) };
    } finally {
      source.close();
    }
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
