import { powershell } from "./powershell.ts";
import printServer from "./print-server.ps1";

// What an operator pastes into Intune, an RMM or a shell. No field's text ever stands in a command: only the service's
// own addresses, and the names of files that are downloaded, which are slugs.

const run = "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File";

/** Runs a script of the folder that one is in. @throws Error for what is no plain name of a file */
export function commandFor(script: string): string {
  return `${run} .\\${plainName(script)}`;
}

/** The same for who sits before the machine: the script may ask. */
export function operatorCommand(script: string): string {
  return `powershell.exe -NoProfile -ExecutionPolicy Bypass -File .\\${plainName(script)}`;
}

export const installCommand = commandFor("install.ps1");
export const uninstallCommand = commandFor("uninstall.ps1");

/** Downloads a file under the name that the service gives it. */
export function curlCommand(url: string): string {
  return `curl -fOJ "${plainUrl(url)}"`;
}

/** Downloads a file in Windows PowerShell, under this name. @throws Error for what is no plain name of a file */
export function webRequestCommand(url: string, fileName: string): string {
  return `${tls(url)}${powershell`Invoke-WebRequest -UseBasicParsing -Uri ${plainUrl(url)} -OutFile ${plainName(fileName)}`}`;
}

/**
 * One line for an elevated PowerShell: downloads a script, runs it, and leaves its exit code in `$LASTEXITCODE`. The
 * file's name is one that nobody can foresee, so that nobody puts another script in its place meanwhile.
 */
export function fetchedCommand(url: string): string {
  const work = `${tls(url)}${download(url)}; ${run} $f; "Exit code $LASTEXITCODE"`;
  return `& { $ErrorActionPreference = 'Stop'; ${temporaryFile}; try { ${work} } finally { ${removal} } }`;
}

/** What makes install and detect leave out printers that belong elsewhere. */
export const onlyHere = "-OnlyHere";

/** The same as a script of an RMM's, which ends with the exit code. @param parameters of the script */
export function fetchedScript(url: string, parameters?: typeof onlyHere): string {
  return [
    "$ErrorActionPreference = 'Stop'",
    temporaryFile,
    "try {",
    ...(tls(url) === "" ? [] : [`    ${tls(url).trimEnd().replace(/;$/, "")}`]),
    `    ${download(url)}`,
    `    ${[run, "$f", parameters].filter(Boolean).join(" ")}`,
    "} finally {",
    `    ${removal}`,
    "}",
    "exit $LASTEXITCODE",
  ].join("\n");
}

/** Unpacks a ZIP that an RMM has put into the folder that its script runs in, and installs. */
export function unpackedScript(
  zip: string,
  options: { readonly parameters?: typeof onlyHere | undefined; readonly exit?: string } = {},
): string {
  const { parameters, exit = "exit $LASTEXITCODE" } = options;
  return [
    "$ErrorActionPreference = 'Stop'",
    `Expand-Archive -LiteralPath .\\${plainName(zip)} -DestinationPath .\\platen -Force`,
    [run, ".\\platen\\install.ps1", parameters].filter(Boolean).join(" "),
    exit,
  ].join("\n");
}

/** For a tool that takes nothing but the exit code 1 for a failure. */
export const exitWithOne = "if (0, 3010, 1641 -contains $LASTEXITCODE) { exit 0 } else { exit 1 }";

const temporaryFile =
  "$f = [IO.Path]::Combine([IO.Path]::GetTempPath(), [guid]::NewGuid().ToString() + '.ps1')";
const removal = "Remove-Item -LiteralPath $f -ErrorAction SilentlyContinue";

function download(url: string): string {
  return powershell`Invoke-WebRequest -UseBasicParsing -Uri ${plainUrl(url)} -OutFile $f`;
}

/** Windows PowerShell 5.1 may not offer TLS 1.2 by itself. */
function tls(url: string): string {
  return url.startsWith("https:")
    ? "[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor 3072; "
    : "";
}

function plainName(file: string): string {
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(file)) throw new Error(`“${file}” cannot stand in a command`);
  return file;
}

/** An address in which nothing has a meaning to any shell: `PUBLIC_URL` may hold more than that. */
function plainUrl(url: string): string {
  const percent = (character: string) =>
    `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  const { href, search } = new URL(url);
  const plain = href.slice(0, href.length - search.length).replace(/[^A-Za-z0-9:/?=._~%[\]-]/g, percent);
  // Within quotes, where addresses stand, the sign between two parameters has no meaning either.
  return plain + search.replace(/[^A-Za-z0-9:/?=._~%&-]/g, percent);
}

/** Copies what a print server or a PC has (printers, ports, drivers) as JSON; for Windows PowerShell 5.1. */
export const printServerCommand = printServer.trim();
