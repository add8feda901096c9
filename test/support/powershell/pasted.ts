import { execFile } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryFolder } from "../app.ts";
import { program } from "./powershell.ts";

interface PastedResult {
  readonly code: number;
  readonly output: string;
}

export function execute(
  program: string,
  args: readonly string[],
  cwd: string,
  path = "",
): Promise<PastedResult> {
  const env = { ...process.env, PATH: `${path}${delimiter}${process.env.PATH}`, TMPDIR: join(cwd, "tmp") };
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

/** A folder with a `powershell.exe` that saves its arguments and script, and exits with a code. */
export async function pastingMachine(
  t: TestContext,
  code: number,
): Promise<{ folder: string; run: (text: string) => Promise<PastedResult> }> {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, "tmp"));
  await mkdir(join(folder, "bin"));
  const substitute = `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/arguments"\nfor last; do :; done\ncp "$last" "${folder}/script.ps1"\nexit ${code}\n`;
  await writeFile(join(folder, "bin", "powershell.exe"), substitute);
  await chmod(join(folder, "bin", "powershell.exe"), 0o755);
  const run = async (text: string) => {
    await writeFile(join(folder, "pasted.ps1"), text);
    const args = ["-NoProfile", "-NonInteractive", "-File", join(folder, "pasted.ps1")];
    return execute(program, args, folder, join(folder, "bin"));
  };
  return { folder, run };
}

/** A substitute for the cmdlet, which Windows PowerShell has and the PowerShell here lacks. */
export const expandArchive = `function Expand-Archive {
  param([string]$LiteralPath, [string]$DestinationPath, [switch]$Force)
  $archive = Join-Path $PWD (Split-Path -Leaf $LiteralPath)
  [IO.Compression.ZipFile]::ExtractToDirectory($archive, (Join-Path $PWD (Split-Path -Leaf $DestinationPath)), [bool]$Force)
}`;

/** The text of an element, unescaped. */
export function textIn(page: string, id: string): string {
  const text = new RegExp(`<(?:pre|code) id="${id}">([^<]*)<`).exec(page)?.[1] ?? "";
  return text
    .replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll("&gt;", ">");
}
