import { type ChildProcess, fork } from "node:child_process";
import type { ArchiveReport } from "../domain/driver.ts";
import type { ErrorCode } from "../domain/errors.ts";

/** The argument that, with a channel to a parent, makes the bundled file an inspection. */
export const inspectionArgument = "--inspection-of-the-service";

/** What an inspection says: first that it has begun, then one answer. */
export type InspectionReply = { readonly kind: "ready" } | InspectionAnswer;

export type InspectionAnswer =
  | { readonly kind: "report"; readonly report: ArchiveReport }
  | { readonly kind: "failure"; readonly code?: ErrorCode; readonly message: string };

/** A process that reads one archive. It is ended when it has answered. */
export class InspectionProcess {
  readonly #child: ChildProcess;
  #last: InspectionReply | undefined;

  /** What it said last, when it has ended. @throws Error when it cannot be started */
  readonly ended: Promise<InspectionReply | undefined>;

  /**
   * @param script the bundled file that `main.ts` became
   * @param path of the archive
   * @param heapMb of V8's heap
   */
  constructor(script: string, path: string, heapMb: number) {
    this.#child = fork(script, [inspectionArgument, path], {
      execArgv: [`--max-old-space-size=${heapMb}`, "--max-semi-space-size=4", "--expose-gc"],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: {},
    });
    this.#child.on("message", (reply: InspectionReply) => {
      this.#last = reply;
      if (reply.kind !== "ready") this.kill();
    });
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      this.#child.on("exit", () => resolve(this.#last));
    });
  }

  /** How it ended. */
  get end(): string {
    const { exitCode, signalCode } = this.#child;
    return signalCode === null ? `exit code ${exitCode}` : signalCode;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
