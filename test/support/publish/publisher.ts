import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { program } from "../powershell/powershell.ts";

/** What became of a run of `publish.ps1`. */
export interface PublishRun {
  readonly code: number;
  /** What a person saw, line by line. */
  readonly output: readonly string[];
  /** Must be empty, whatever happened. */
  readonly errors: readonly string[];
  readonly log: string;
  /** Temporary files that stayed. */
  readonly left: readonly string[];
}

/** Times in which the script waits, as it has them and as tests have them. */
const times: readonly (readonly [string, string])[] = [
  ["$FirstPauseMs = 1000", "$FirstPauseMs = 5"],
  ["$LongestPauseMs = 60000", "$LongestPauseMs = 20"],
  ["$PollMs = 1000", "$PollMs = 5"],
  ["$LongestPollMs = 10000", "$LongestPollMs = 20"],
  ["$RefusedPauseMs = 2000", "$RefusedPauseMs = 5"],
  ["$SlowDownSeconds = 5", "$SlowDownSeconds = 1"],
  ["[Math]::Max(1, [int]$Matches[0])", "[Math]::Max(0, [int]$Matches[0])"],
];

/** The script with short pauses and other replacements, each of which must be there. */
export function hurried(script: string, others: readonly (readonly [string, string])[] = []): string {
  return [...times, ...others].reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the script has no “${from}”`);
    return text.replace(from, to);
  }, script);
}

/** A PowerShell process that runs publish scripts one after the other. */
export class Publisher {
  readonly folder = mkdtempSync(join(tmpdir(), "platen-publish-"));
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  #runs = 0;

  constructor() {
    const args = ["-NoProfile", "-NonInteractive", "-File", resolve("test/powershell/publish.ps1")];
    this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    const { stdout } = this.#process;
    if (stdout === null) throw new Error("PowerShell has no output");
    this.#answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  async run(script: string, parameters: Record<string, unknown> = {}): Promise<PublishRun> {
    const folder = join(this.folder, String(++this.#runs));
    mkdirSync(folder);
    const path = join(folder, "publish.ps1");
    writeFileSync(path, script);
    this.#process.stdin?.write(
      `${JSON.stringify({ Script: path, Parameters: parameters, Folder: folder })}\n`,
    );
    const said: string[] = [];
    for (;;) {
      const { value, done } = await this.#answers.next();
      if (done) throw new Error("PowerShell ended");
      if (!value.startsWith("ANSWER ")) {
        said.push(value);
        continue;
      }
      const { Code, Output, Errors, Log, Left } = JSON.parse(value.slice("ANSWER ".length));
      return { code: Code, output: [...said, ...Output], errors: Errors, log: Log, left: Left };
    }
  }

  close(): void {
    this.#process.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}
