import { fork } from "node:child_process";
import type { ArchiveReport } from "../domain/drivers/driver.ts";
import type { ErrorCode } from "../domain/errors.ts";

/** The argument that, with a channel to a parent, makes the bundled file an inspection. */
export const inspectionArgument = "--inspection-of-the-service";

/** What an inspection says: first that it has begun, then one answer. */
export type InspectionReply = { readonly kind: "ready" } | InspectionAnswer;

export type InspectionAnswer =
  | { readonly kind: "report"; readonly report: ArchiveReport }
  | { readonly kind: "failure"; readonly code?: ErrorCode; readonly message: string };

/** What a process said last, and how it ended. */
interface Ended {
  readonly last: InspectionReply | undefined;
  readonly end: string;
}

/**
 * Reads one archive in a process of its own, which is ended when it has answered. Settles when it has ended.
 * @param script the bundled file that `main.ts` became
 * @param path of the archive
 * @param heapMb of V8's heap
 * @param ending ends it before
 * @throws Error when it cannot be started
 */
export function readInProcess(
  script: string,
  path: string,
  heapMb: number,
  ending: AbortSignal,
): Promise<Ended> {
  const child = fork(script, [inspectionArgument, path], {
    execArgv: [`--max-old-space-size=${heapMb}`, "--max-semi-space-size=4", "--expose-gc"],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    env: {},
  });
  let last: InspectionReply | undefined;
  const kill = () => child.kill("SIGKILL");
  ending.addEventListener("abort", kill);
  child.on("message", (reply: InspectionReply) => {
    last = reply;
    if (reply.kind !== "ready") kill();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve({ last, end: signal ?? `exit code ${code}` }));
  });
}
