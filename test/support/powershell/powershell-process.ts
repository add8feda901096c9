import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { program } from "./powershell.ts";

/** How a script ended that ran in a process of its own. */
interface ProcessResult {
  /** Of this system's process: the code's last eight bits. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a file as Windows and every tool does, in a process of its own and on no simulated machine. */
export async function runFile(
  script: string,
  options: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<ProcessResult> {
  const { args = [], env = {} } = options;
  const all = ["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", script, ...args];
  const child = spawn(program, all, {
    env: { ...process.env, ...env },
    // What a script writes by a relative path stays beside it.
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
