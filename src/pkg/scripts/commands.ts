import { powershell } from "./powershell.ts";
import printServer from "./print-server.ps1";

// Commands that an operator pastes into Intune, an RMM or a shell. A command never contains the text of a field. It
// contains only addresses of the service and the names of downloaded files, which are slugs.

const run = "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File";

/** Runs a script in the current folder. @throws Error for a name that is not a slug with an extension */
export function commandFor(script: string): string {
  return `${run} .\\${plainName(script)}`;
}

/** Runs a script for a person at the machine: the script may prompt. @throws Error as `commandFor` does */
export function interactiveCommand(script: string): string {
  return `powershell.exe -NoProfile -ExecutionPolicy Bypass -File .\\${plainName(script)}`;
}

export const installCommand = commandFor("install.ps1");
export const uninstallCommand = commandFor("uninstall.ps1");

/** Downloads a file and saves it under the name in `Content-Disposition`. */
export function curlCommand(url: string): string {
  return `curl -fOJ "${plainUrl(url)}"`;
}

/** Downloads a file in Windows PowerShell and saves it as `fileName`. @throws Error as `commandFor` does */
export function webRequestCommand(url: string, fileName: string): string {
  return `${tlsStatement(url)}${powershell`Invoke-WebRequest -UseBasicParsing -Uri ${plainUrl(url)} -OutFile ${plainName(fileName)}`}`;
}

/**
 * One line for an elevated PowerShell: downloads a script, runs it, and leaves its exit code in `$LASTEXITCODE`. The
 * temporary file has a random name, so no other user can put a different script in its place.
 * @param sha256 of the script, in hex: no other script runs; undefined to run any
 */
export function downloadAndRunCommand(url: string, sha256?: string): string {
  const start = `${run} $f`;
  const guarded =
    sha256 === undefined
      ? start
      : `if (${isOther(sha256)}) { ${changedText}; $global:LASTEXITCODE = 1603 } else { ${start} }`;
  const work = `${tlsStatement(url)}${downloadStatement(url)}; ${guarded}; "Exit code $LASTEXITCODE"`;
  return `& { $ErrorActionPreference = 'Stop'; ${temporaryFileStatement}; try { ${work} } finally { ${removalStatement} } }`;
}

/** The parameter with which install and detect skip printers whose subnets do not contain the machine. */
export const onlyHere = "-OnlyHere";

interface RunOptions {
  /** Parameters of the script that is run. */
  readonly parameters?: typeof onlyHere | undefined;
  /** The last line, which evaluates `$LASTEXITCODE`. */
  readonly exit?: string | undefined;
}

const exitWithItsCode = "exit $LASTEXITCODE";

/** A script for an RMM that downloads a script, runs it and exits with its code. @param options.sha256 as in `downloadAndRunCommand` */
export function downloadAndRunScript(
  url: string,
  options: RunOptions & { readonly sha256?: string | undefined } = {},
): string {
  const { parameters, exit = exitWithItsCode, sha256 } = options;
  return [
    "$ErrorActionPreference = 'Stop'",
    temporaryFileStatement,
    "try {",
    ...(tlsStatement(url) === "" ? [] : [`    ${tlsStatement(url).trimEnd().replace(/;$/, "")}`]),
    `    ${downloadStatement(url)}`,
    ...(sha256 === undefined
      ? []
      : [`    if (${isOther(sha256)}) {`, `        ${changedText}`, "        exit 1603", "    }"]),
    `    ${[run, "$f", parameters].filter(Boolean).join(" ")}`,
    "} finally {",
    `    ${removalStatement}`,
    "}",
    exit,
  ].join("\n");
}

/** A script for an RMM that unpacks a ZIP in the current folder and runs its `install.ps1`. */
export function unpackAndInstallScript(zip: string, options: RunOptions = {}): string {
  const { parameters, exit = exitWithItsCode } = options;
  return [
    "$ErrorActionPreference = 'Stop'",
    `Expand-Archive -LiteralPath .\\${plainName(zip)} -DestinationPath .\\platen -Force`,
    [run, ".\\platen\\install.ps1", parameters].filter(Boolean).join(" "),
    exit,
  ].join("\n");
}

/** The last line for a tool that counts only exit code 1 as a failure. */
export const exitZeroOrOne = "if (0, 3010, 1641 -contains $LASTEXITCODE) { exit 0 } else { exit 1 }";

/** The last lines for a tool that shows only the output. */
export const exitWithCodeInOutput = `"Exit code $LASTEXITCODE"\n${exitWithItsCode}`;

const temporaryFileStatement =
  "$f = [IO.Path]::Combine([IO.Path]::GetTempPath(), [guid]::NewGuid().ToString() + '.ps1')";
const removalStatement = "Remove-Item -LiteralPath $f -ErrorAction SilentlyContinue";

/** A condition: whether the downloaded file has another SHA-256. @throws Error for anything but a SHA-256 in hex */
function isOther(sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`“${sha256}” is not a SHA-256`);
  return powershell`(Get-FileHash -LiteralPath $f -Algorithm SHA256).Hash -ne ${sha256.toUpperCase()}`;
}

const changedText =
  "'Failed: This script is not the one that Platen showed. Nothing ran. Copy the command again.'";

function downloadStatement(url: string): string {
  return powershell`Invoke-WebRequest -UseBasicParsing -Uri ${plainUrl(url)} -OutFile $f`;
}

/** Enables TLS 1.2, which Windows PowerShell 5.1 may not offer by default. Empty for HTTP. */
function tlsStatement(url: string): string {
  return url.startsWith("https:")
    ? "[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor 3072; "
    : "";
}

function plainName(file: string): string {
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(file)) throw new Error(`“${file}” cannot be part of a command`);
  return file;
}

/** Percent-encodes every character that has a meaning in a shell. `PUBLIC_URL` may contain such characters. */
function plainUrl(url: string): string {
  const percent = (character: string) =>
    `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  const { href, search } = new URL(url);
  const plain = href.slice(0, href.length - search.length).replace(/[^A-Za-z0-9:/?=._~%[\]-]/g, percent);
  // The query keeps its `&`, which has no meaning inside quotes. All commands quote addresses.
  return plain + search.replace(/[^A-Za-z0-9:/?=._~%&-]/g, percent);
}

/** Copies the printers, ports and drivers of a print server or PC to the clipboard as JSON. For Windows PowerShell 5.1. */
export const printServerCommand = printServer.trim();
