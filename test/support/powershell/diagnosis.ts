import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type PowerShellValue, powershell } from "../../../src/pkg/scripts/powershell.ts";
import type { RunOptions, Simulation } from "./powershell.ts";

interface Diagnosis {
  readonly code: number;
  readonly lines: readonly string[];
  readonly calls: readonly string[];
}

/**
 * Runs `diagnose.ps1` on the current machine. It must change nothing, leave no files, write nothing to STDERR and end
 * with the verdict.
 */
export async function diagnose(
  windows: Simulation,
  what: Parameters<Simulation["run"]>[1],
  options: RunOptions = {},
): Promise<Diagnosis> {
  const result = await windows.run("diagnose", what, { withoutFiles: true, ...options });
  const { code, output, errors, calls, log, left } = result;
  const changing = calls.filter((call) => !call.startsWith("Get-"));
  assert.deepEqual([errors, changing, log, left], [[], [], "", 0]);
  assert.match(output.at(-1) ?? "", /^(?:ok {3}|warn |bad {2})verdict: /);
  for (const line of output) assert.match(line, /^(?:ok {3}|warn |bad {2})\S[^\r\n\t]*$/);
  assert.equal(code, output.some((line) => line.startsWith("bad  ")) ? 1 : 0, output.join("\n"));
  return { code, lines: output, calls };
}

/** The lines that are not `ok`, without the verdict. */
export function problemLines({ lines }: Pick<Diagnosis, "lines">): string[] {
  return lines.slice(0, -1).filter((line) => !line.startsWith("ok   "));
}

/** Evaluates a command that reads `$Values`. @param parts paths below src/pkg/scripts, without `.ps1` */
export async function evaluate<T>(
  windows: Simulation,
  parts: readonly string[],
  values: PowerShellValue,
  command: string,
): Promise<T> {
  const script = join(windows.folder, "evaluated.ps1");
  const files = parts.map((part) => powershell`. ${resolve(`src/pkg/scripts/${part}.ps1`)}\n`);
  const text = powershell`Set-StrictMode -Version 2.0\n$Values = ${values}\n`;
  await writeFile(script, `\ufeff${text}${files.join("")}$Settings = ${command}`);
  return (await windows.request<{ value: T }>({ do: "evaluate", script })).value;
}
