import type { ScriptKind } from "./parts.ts";

/** A tool for which some scripts are changed. */
export interface ScriptTool {
  /** Identifies the tool in URLs and file names. */
  readonly id: string;
  readonly kinds: readonly ScriptKind[];
  /** @param script as rendered, with CRLF. Its bytes are characters. */
  readonly change: (script: string) => string;
}

export const nSight: ScriptTool = {
  id: "n-sight",
  kinds: ["detect", "diagnose"],
  change: (script) =>
    withTranslation(script, [
      "# N-sight reserves the exit codes 1 to 999, and shows the output of a failure only above 1000.",
      "Write-Output $lines",
      "if ($code -gt 0 -and $code -lt 1000) { $code += 1000 }",
      "exit $code",
    ]),
};

export const configMgr: ScriptTool = {
  id: "configmgr",
  kinds: ["detect"],
  change: (script) =>
    withTranslation(script, [
      '# ConfigMgr reads exit code 0 without output as "not installed", and other exit codes as errors.',
      "if ($code -eq 1) { exit 0 }",
      "Write-Output $lines",
      "exit $code",
    ]),
};

/** Intune's script installer accepts 50 KB. The help at the top of the script stays. */
export const scriptInstaller: ScriptTool = {
  id: "script-installer",
  kinds: ["install"],
  change: (script) => {
    const code = script.indexOf("[CmdletBinding");
    const note = "# Platen left out the comments, for Intune's script installer.\r\n";
    return (
      script.slice(0, code) +
      note +
      script
        .slice(code)
        .replace(/^[\t ]*#.*\r\n/gm, "")
        .replace(/^\r\n/gm, "")
    );
  },
};

export const scriptTools: readonly ScriptTool[] = [nSight, configMgr, scriptInstaller];

export function scriptForTool({ change }: ScriptTool, script: Uint8Array): Uint8Array {
  return Buffer.from(change(Buffer.from(script).toString("latin1")), "latin1");
}

/** The first line after the parameters. The translation is inserted before it. */
const firstStatement = "\r\nSet-StrictMode ";

/**
 * The script calls itself once and translates the result, because `exit` ends only the inner call. A 64-bit relaunch
 * inherits the variable, so the result is translated only once.
 * @param translation PowerShell that gets the script's output in `$lines` and its exit code in `$code`
 */
function withTranslation(script: string, translation: readonly string[]): string {
  const at = script.indexOf(firstStatement);
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
  return script.slice(0, at) + lines.join("\r\n") + script.slice(at);
}
