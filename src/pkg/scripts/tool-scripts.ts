import type { ScriptKind } from "./parts.ts";

/** A tool that reads the exit codes or the output of scripts in its own way. */
export interface ScriptTool {
  /** Identifies the tool in URLs and file names. */
  readonly id: string;
  /** The scripts that need a translation for this tool. They are ASCII. */
  readonly kinds: readonly ScriptKind[];
  /** PowerShell that gets the script's output in `$lines` and its exit code in `$code`. */
  readonly translation: readonly string[];
}

export const nSight: ScriptTool = {
  id: "n-sight",
  kinds: ["detect", "diagnose"],
  translation: [
    "# N-sight reserves the exit codes 1 to 999, and shows the output of a failure only above 1000.",
    "Write-Output $lines",
    "if ($code -gt 0 -and $code -lt 1000) { $code += 1000 }",
    "exit $code",
  ],
};

export const configMgr: ScriptTool = {
  id: "configmgr",
  kinds: ["detect"],
  translation: [
    '# ConfigMgr reads exit code 0 without output as "not installed", and other exit codes as errors.',
    "if ($code -eq 1) { exit 0 }",
    "Write-Output $lines",
    "exit $code",
  ],
};

export const scriptTools: readonly ScriptTool[] = [nSight, configMgr];

/** The first line after the parameters. The translation is inserted before it. */
const firstStatement = "\r\nSet-StrictMode ";

/**
 * A script for a tool. The script calls itself once and translates the result, because `exit` ends only the inner call. A
 * 64-bit relaunch inherits the variable, so the result is translated only once.
 * @param script as rendered: ASCII with CRLF
 */
export function scriptForTool({ translation }: ScriptTool, script: Uint8Array): Uint8Array {
  const text = Buffer.from(script).toString("latin1");
  const at = text.indexOf(firstStatement);
  if (at === -1) throw new Error("the script has no place for a tool's translation");
  const lines = [
    "",
    "if (-not $env:PLATEN_INNER) {",
    "\t$env:PLATEN_INNER = '1'",
    "\t$lines = & $PSCommandPath @PSBoundParameters",
    "\t$code = $LASTEXITCODE",
    "\t$env:PLATEN_INNER = $null",
    ...translation.map((line) => `\t${line}`),
    "}",
  ];
  return Buffer.from(text.slice(0, at) + lines.join("\r\n") + text.slice(at), "latin1");
}
