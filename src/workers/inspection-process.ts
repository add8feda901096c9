import { type ChildProcess, fork } from "node:child_process";
import type { ArchiveReport } from "../domain/driver.ts";
import type { ErrorCode } from "../domain/errors.ts";

/** The argument that, with a channel to a parent, makes the bundled file an inspection. */
export const inspectionArgument = "--inspection-of-the-service";

/**
 * What an inspection is asked. Any number of times, each with more bytes than before: a file still grows, and what
 * stands in it may be checked already. Then once: the file is complete, what is to be said of it?
 */
export type InspectionRequest =
  | { readonly kind: "arrived"; readonly path: string; readonly bytes: number }
  | { readonly kind: "inspect"; readonly path: string };

/** What an inspection says: first that it has begun, then one answer. */
export type InspectionReply =
  | { readonly kind: "ready" }
  | { readonly kind: "report"; readonly report: ArchiveReport }
  | { readonly kind: "failure"; readonly code?: ErrorCode; readonly message: string };

/** A process that reads one archive. It is ended when it has answered. */
export class InspectionProcess {
  readonly #child: ChildProcess;
  #last: InspectionReply | undefined;
  /** What it is to be asked as soon as it is ready. */
  #request: InspectionRequest | undefined;
  #hasFailed = false;

  /** What it said last, when it has ended. @throws Error when it cannot be started */
  readonly ended: Promise<InspectionReply | undefined>;

  /**
   * @param script the bundled file that `main.ts` became
   * @param heapMb of V8's heap
   */
  constructor(script: string, heapMb: number) {
    this.#child = fork(script, [inspectionArgument], {
      execArgv: [`--max-old-space-size=${heapMb}`, "--max-semi-space-size=4", "--expose-gc"],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: {},
    });
    this.#child.on("message", (reply: InspectionReply) => this.#take(reply));
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", (error) => {
        this.#hasFailed = true;
        reject(error);
      });
      this.#child.on("exit", () => resolve(this.#last));
    });
    // One that reads an upload early may end before anybody waits for it.
    this.ended.catch(() => {});
  }

  /** Whether it can still be asked something. */
  get isWaiting(): boolean {
    const { exitCode, signalCode, killed } = this.#child;
    const hasEnded = exitCode !== null || signalCode !== null || killed || this.#hasFailed;
    return !hasEnded && (this.#last === undefined || this.#last.kind === "ready");
  }

  /** How it ended. */
  get end(): string {
    const { exitCode, signalCode } = this.#child;
    return signalCode === null ? `exit code ${exitCode}` : signalCode;
  }

  /** Of what it is asked before it is ready, only the last counts. */
  ask(request: InspectionRequest): void {
    if (this.#last === undefined) this.#request = request;
    // A process that is gone already cannot be sent anything: its end says so.
    else this.#child.send(request, () => {});
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #take(reply: InspectionReply): void {
    this.#last = reply;
    if (reply.kind !== "ready") this.kill();
    else if (this.#request !== undefined) this.ask(this.#request);
  }
}
