import { setPriority } from "node:os";
import { errorMessage, UserError } from "../../domain/errors.ts";
import { innerPath } from "../../store/blobs.ts";
import { openSourceBlocking } from "../../store/files.ts";
import type { InspectionAnswer, InspectionReply } from "../../workers/inspection-process.ts";
import { reportOf } from "./inspect-report.ts";
import { inspectUpload } from "./inspect-upload.ts";

/**
 * Runs an inspection's process: reads the archive, sends the report. The parent ends the process.
 * @param limitBytes the maximum size of a ZIP inside the archive
 */
export function serveInspection(path: string, limitBytes: number): void {
  // A low priority, so that inspections do not slow requests.
  setPriority(4);
  // A terminal or supervisor signals parent and child. The child goes on, because the parent waits for its answer.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  process.on("uncaughtException", (error) => reply({ kind: "failure", message: errorMessage(error) }));
  reply({ kind: "ready" });
  void inspectFile(path, limitBytes).then(reply);
}

export async function inspectFile(path: string, limitBytes: number): Promise<InspectionAnswer> {
  try {
    const source = openSourceBlocking(path);
    try {
      const { inspection, inner } = await inspectUpload(source, { path: innerPath(path), limitBytes });
      return { kind: "report", report: reportOf(inspection), inner };
    } finally {
      source.close();
    }
  } catch (error) {
    const message = errorMessage(error);
    return error instanceof UserError
      ? { kind: "failure", code: error.code, message }
      : { kind: "failure", message, systemCode: (error as NodeJS.ErrnoException).code };
  }
}

/** Ignores errors: a parent that has exited needs no answer. */
function reply(message: InspectionReply): void {
  process.send?.(message, () => {});
}
