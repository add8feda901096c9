import { setPriority } from "node:os";
import { messageOf, UserError } from "../domain/errors.ts";
import { openSourceBlocking } from "../store/files.ts";
import type { InspectionReply, InspectionRequest } from "../workers/inspection-process.ts";
import { EarlyReading } from "./early-checks.ts";
import { inspectArchive } from "./inspect.ts";
import { reportOf } from "./inspect-report.ts";

/** What is read of an upload that is not complete yet. */
let early: EarlyReading | undefined;

/** The whole life of an inspection's process: it is sent a path, answers, and is ended by its parent. */
export function serveInspection(): void {
  // Whoever asks the service for a page goes first.
  setPriority(4);
  // A terminal's or a supervisor's signal reaches both: what the parent waits for is not lost by it.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  process.on("uncaughtException", (error) => reply({ kind: "failure", message: messageOf(error) }));
  process.on("message", (request: InspectionRequest) => {
    if (request.kind === "arrived") follow(request.path, request.bytes);
    else void readArchive(request.path).then(reply);
  });
  reply({ kind: "ready" });
}

/** Nothing is said of what goes wrong: it shows again when the upload is complete. */
function follow(path: string, bytes: number): void {
  try {
    early ??= new EarlyReading(openSourceBlocking(path));
    early.arrived(bytes);
  } catch {
    // The upload broke off, and the process will be ended.
  }
}

/** What is to be said of the archive at a path. */
export async function readArchive(path: string): Promise<InspectionReply> {
  try {
    const source = openSourceBlocking(path);
    try {
      await early?.finish(source.size);
      return { kind: "report", report: reportOf(await inspectArchive(source, early)) };
    } finally {
      await source.close();
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
