import fromPc from "./from-pc.ps1";
import { asciiPowershell } from "./powershell.ts";
import consoleLines from "./publish/console.ps1";
import http from "./publish/http.ps1";
import language from "./shared/language.ps1";
import log from "./shared/log.ps1";
import { renderOperatorScript } from "./sign-script.ts";

/** Renders `from-pc.ps1` as an ASCII file. @param service the service's address, empty if it is unknown */
export function renderFromPcScript(service: string): Buffer {
  const settings = asciiPowershell`$Settings = ${{ Url: service }}`;
  return renderOperatorScript(fromPc, [language, log, consoleLines, http], settings);
}
