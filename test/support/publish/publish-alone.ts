import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryFolder } from "../app.ts";
import { cleanUp } from "../clean-up.ts";
import { program } from "../powershell/powershell.ts";

/**
 * Runs a script in a PowerShell process of its own, as people start it. `interrupt` is Ctrl+C; `output` has what is on both
 * STDOUT and STDERR.
 * @param answers the input at prompts, line by line; undefined: not interactive
 */
export async function startAlone(
  t: TestContext,
  script: string,
  args: readonly string[],
  answers?: readonly string[],
) {
  const folder = await temporaryFolder(t);
  const path = join(folder, "publish.ps1");
  await writeFile(path, script);
  const host = answers === undefined ? ["-NonInteractive"] : [];
  const given = ["-NoProfile", ...host, "-File", path, ...args, "-LogPath", join(folder, "publish.log")];
  const process_ = spawn(program, given, { env: { ...process.env, TMPDIR: folder } });
  cleanUp(t, () => process_.kill("SIGKILL"));
  process_.stdin.end((answers ?? []).map((line) => `${line}\n`).join(""));
  const texts = { stdout: "", stderr: "", output: "" };
  for (const name of ["stdout", "stderr"] as const)
    process_[name].setEncoding("utf8").on("data", (piece: string) => {
      texts[name] += piece;
      texts.output += piece;
    });
  const ended = new Promise<typeof texts & { code: number | null }>((resolve) => {
    process_.on("close", (code) => resolve({ code, ...texts }));
  });
  return { interrupt: () => process_.kill("SIGINT"), ended };
}
