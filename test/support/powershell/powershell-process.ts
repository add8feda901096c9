import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { program } from "./powershell.ts";

interface ProcessResult {
  /** The exit code modulo 256: this system keeps only eight bits. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a file in its own process, as RMM tools do on Windows, without a simulated machine. */
export async function runFile(
  script: string,
  options: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<ProcessResult> {
  const { args = [], env = {} } = options;
  const all = ["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", script, ...args];
  const child = spawn(program, all, {
    env: { ...process.env, ...env },
    // Files that a script writes to relative paths stay beside it.
    cwd: dirname(script),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("close", resolve)),
  ]);
  return { code, stdout, stderr };
}
