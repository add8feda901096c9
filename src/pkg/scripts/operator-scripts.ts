import fromPc from "./from-pc.ps1";
import { asciiPowershell } from "./powershell.ts";
import certificate from "./publish/certificate.ps1";
import consoleLines from "./publish/console.ps1";
import http from "./publish/http.ps1";
import { aroundRegion, fileBytes, neededPieces, tabbed } from "./script-text.ts";
import language from "./shared/language.ps1";
import log from "./shared/log.ps1";
import sign from "./sign.ps1";

/** The parts of `from-pc.ps1` and, before one more, of `sign.ps1`, in the order in which they run. */
const commonParts: readonly string[] = [language, log, consoleLines, http];

/** Renders `sign.ps1` as an ASCII file. @param service the service's address, empty if it is unknown */
export function renderSignScript(service: string): Buffer {
  const settings = asciiPowershell`$Settings = ${{ LogName: "Platen-sign", Url: service }}`;
  return renderOperatorScript(sign, [...commonParts, certificate], settings);
}

/** Renders `from-pc.ps1` as an ASCII file. @param service the service's address, empty if it is unknown */
export function renderFromPcScript(service: string): Buffer {
  return renderOperatorScript(fromPc, commonParts, asciiPowershell`$Settings = ${{ Url: service }}`);
}

/** Puts a script for an operator's PC together from its body, its parts and its settings block. */
export function renderOperatorScript(body: string, parts: readonly string[], settings: string): Buffer {
  const [start, end] = aroundRegion(body.replaceAll("\r\n", "\n"), "parts");
  const pieces = parts.map((part) =>
    neededPieces(part.replaceAll("\r\n", "\n"), (name) => name === "publish").trim(),
  );
  const [before, after] = aroundRegion(start + pieces.join("\n\n") + end, "settings");
  return fileBytes(tabbed(before) + settings + tabbed(after));
}
