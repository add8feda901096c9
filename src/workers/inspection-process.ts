import type { ArchiveReport } from "../domain/drivers/driver.ts";
import type { ErrorCode } from "../domain/errors.ts";
import { startProcess } from "./program.ts";

/** With this argument and a channel to its parent process, the bundled file runs as an inspection. */
export const inspectionArgument = "--inspection-of-the-service";

/** An inspection sends two messages: that it is ready, and its answer. */
export type InspectionReply = { readonly kind: "ready" } | InspectionAnswer;

export type InspectionAnswer =
  | ({ readonly kind: "report" } & InspectedArchive)
  | {
      readonly kind: "failure";
      readonly message: string;
      /** Of a `UserError`. */
      readonly code?: ErrorCode;
      /** Of an error of the system, such as `ENOSPC`. */
      readonly systemCode?: string | undefined;
    };

/** A ZIP that was extracted from the uploaded one. */
export interface InnerArchive {
  /** Inside the uploaded ZIP. */
  readonly name: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** Says for the operator which archive was taken. */
  readonly remark: string;
}

/** The report of an archive, or of the ZIP in it that was extracted beside it and read instead. */
export interface InspectedArchive {
  readonly report: ArchiveReport;
  readonly inner?: InnerArchive | undefined;
}

/**
 * Reads one archive in a separate process, and kills the process after its answer. Settles when the process has ended.
 * @param script the bundled file, whose entry is `main.ts`
 * @param limits `heapMb` of V8's heap, `innerBytes` of a ZIP inside the archive
 * @param signal kills the process
 * @returns the last message, and the signal or exit code with which the process ended
 * @throws Error if the process cannot be started
 */
export function readInProcess(
  script: string,
  path: string,
  { heapMb, innerBytes }: { readonly heapMb: number; readonly innerBytes: number },
  signal: AbortSignal,
): Promise<{ last: InspectionReply | undefined; end: string }> {
  const nodeOptions = [`--max-old-space-size=${heapMb}`, "--max-semi-space-size=4", "--expose-gc"];
  const child = startProcess(script, [inspectionArgument, path, String(innerBytes)], nodeOptions);
  let last: InspectionReply | undefined;
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  child.on("message", (reply: InspectionReply) => {
    last = reply;
    if (reply.kind !== "ready") kill();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, name) => resolve({ last, end: name ?? `exit code ${code}` }));
  });
}
