import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { program } from "../powershell/powershell.ts";
import { uncounted } from "../processor-time.ts";
import { findBlock } from "./published.ts";

/** `as served`: the script stays as it is. `apart`: its settings are in a file of their own, for PowerShell's cache. */
type How = "as served" | "apart";

const usual: How = process.env.DEEP === "1" ? "as served" : "apart";

/** An object of `-PassThru`. */
type ResultRow = Readonly<
  Record<"Tenant" | "Client" | "Name" | "AppId" | "Result" | "Reason", string> & {
    Changed: string[];
    Seconds: number;
  }
>;

/** The result of a run. */
export interface PublishRun {
  readonly code: number;
  /** Lines that a person sees, and the same as one text. */
  readonly output: readonly string[];
  readonly said: string;
  /** The objects of `-PassThru`. */
  readonly rows: readonly ResultRow[];
  /** Lines on standard error. They must always be empty. */
  readonly errors: readonly string[];
  readonly log: string;
  /** The texts of all errors that the run caught. */
  readonly noted: string;
  /** Temporary files that were not deleted. */
  readonly left: readonly string[];
}

/** Settings of the script that an environment variable of the same name replaces, so that its text stays the same. */
const replaceable = {
  ...{ UploadBlockBytes: 6_291_456, RenewSeconds: 450, BrowserSeconds: 300 },
  ...{ LeaseSeconds: 120, LeaseWaitSeconds: 600 },
};

/**
 * Stands for the person at the prompts. $env:CONFIRM has y or n for each question of -Confirm; $env:ANSWER is the choice at
 * other questions, or 'default'.
 */
const person = `$script:Confirm = [Collections.Queue]@("$env:CONFIRM".ToCharArray())
$script:Run, $script:Person = $PSCmdlet, $Host.UI
if ($env:CONFIRM) { $script:Run = New-Object PSObject | Add-Member ScriptMethod ShouldProcess { $script:Confirm.Dequeue() -eq 'y' } -PassThru }
if ($env:ANSWER) { $script:Person = New-Object PSObject | Add-Member ScriptMethod PromptForChoice {
    Write-Host $args[1]
    if ($env:ANSWER -eq 'default') { return $args[3] }
    return @($args[2] | ForEach-Object { $_.Label }).IndexOf("&$env:ANSWER")
} -PassThru }`;

/** What differs in tests: shorter waits, and a person that the test plays. */
const replacements: readonly (readonly [string, string])[] = [
  ["$FirstPauseMs = 1000", "$FirstPauseMs = 5"],
  ["$LongestPauseMs = 60000", "$LongestPauseMs = 20"],
  ["$PollMs = 1000", "$PollMs = 5"],
  ["$LongestPollMs = 10000", "$LongestPollMs = 20"],
  ["$RefusedPauseMs = 2000", "$RefusedPauseMs = 5"],
  ["$SlowDownSeconds = 5", "$SlowDownSeconds = 1"],
  ["$LookForLeaseMs = 5000", "$LookForLeaseMs = 20"],
  ["[Math]::Max(1, [int]$Matches[0])", "[Math]::Max(0, [int]$Matches[0])"],
  ["$Host.UI.PromptForChoice(", "$script:Person.PromptForChoice("],
  ["$script:Run = $PSCmdlet", person],
  ...Object.entries(replaceable).map(
    ([name, usually]) =>
      [
        `$${name} = ${usually}\r`,
        `$${name} = [int]@($env:${name}, ${usually} | Where-Object { $_ })[0]\r`,
      ] as const,
  ),
];

/** Shortens the script's pauses and lets a test play the person. @throws Error if a text to replace is missing */
export function forTests(script: string): string {
  return replacements.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the script has no “${from}”`);
    return text.replace(from, () => to);
  }, script);
}

/** A PowerShell process that runs publish scripts one after another. */
export class Publisher {
  readonly folder = mkdtempSync(join(tmpdir(), "platen-publish-"));
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  #runs = 0;

  constructor() {
    const args = ["-NoProfile", "-NonInteractive", "-File", resolve("test/powershell/publish.ps1")];
    // `Start-Process` with an address runs this program.
    const browser = `#!/bin/sh\nexec "${process.execPath}" "${resolve("test/powershell/browser.mjs")}" "$1"\n`;
    writeFileSync(join(this.folder, "xdg-open"), browser, { mode: 0o755 });
    const env = { ...process.env, PATH: `${this.folder}:${process.env.PATH}` };
    this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"], env });
    const { stdout } = this.#process;
    if (stdout === null) throw new Error("PowerShell has no output");
    this.#answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  async run(
    script: string,
    parameters: Record<string, unknown> = {},
    environment: Record<string, string> = {},
    how = usual,
  ): Promise<PublishRun> {
    const text = how === "as served" ? script : this.#withoutSettings(script);
    const running = this.#run(text, parameters, environment);
    // The first run starts PowerShell and lets it compile its own code.
    return this.#runs === 1 ? uncounted(running) : running;
  }

  async #run(script: string, Parameters: object, Environment: object): Promise<PublishRun> {
    const folder = join(this.folder, String(++this.#runs));
    mkdirSync(folder);
    const path = join(this.folder, "publish.ps1");
    writeFileSync(path, script);
    this.#process.stdin?.write(
      `${JSON.stringify({ Script: path, Parameters, Environment, Folder: folder })}\n`,
    );
    const lines: string[] = [];
    for (;;) {
      const { value, done } = await this.#answers.next();
      if (done) throw new Error("PowerShell ended");
      if (!value.startsWith("ANSWER ")) {
        lines.push(value);
        continue;
      }
      const { Code, Output, Rows, Errors, Noted, Log, Left } = JSON.parse(value.slice("ANSWER ".length));
      const output = [...lines, ...Output];
      const texts = { output, said: output.join("\n"), errors: Errors, noted: Noted, log: Log };
      return { code: Code, rows: Rows, left: Left, ...texts };
    }
  }

  /**
   * The script with its settings in a file of their own: PowerShell keeps a script that it has compiled, as long as path and
   * text are the same. The deep tier runs whole scripts.
   */
  #withoutSettings(script: string): string {
    if (!script.includes("$Settings = ")) return script;
    const { start, end } = findBlock(script);
    const path = join(this.folder, "settings.ps1");
    writeFileSync(path, script.slice(start, end));
    return `${script.slice(0, start)}. '${path}'${script.slice(end)}`;
  }

  close(): void {
    this.#process.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}
