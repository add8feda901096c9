import type { DeployOffer, OfferedScript } from "../html/deploy.ts";
import { commandFor, curlCommand, fetchedCommand } from "../pkg/scripts/commands.ts";
import type { ScriptKind } from "../pkg/scripts/render.ts";

type KindOfScript = OfferedScript & { readonly kind: ScriptKind };

const verbs: Readonly<Record<ScriptKind, string>> = {
  install: "Install",
  uninstall: "Uninstall",
  detect: "Detect",
  requirement: "Ask whether the machine is in the subnets",
  diagnose: "Diagnose",
};

/** What is said of those that are fetched and run at once. */
const inOneLine: Readonly<Partial<Record<ScriptKind, string>>> = {
  install: "At the machine, in an elevated PowerShell: fetches the script and runs it.",
  diagnose: "Where it does not print: says what is wrong there, line by line, and changes nothing.",
};

/** What somebody at the machine pastes there. @param service its address, where that is known */
export function byHand(service: string | undefined, scripts: readonly KindOfScript[]): DeployOffer["byHand"] {
  const downloaded = scripts.map(({ kind, fileName }) => ({
    label: `${verbs[kind]}, in the folder of the download`,
    text: commandFor(fileName),
  }));
  const install = scripts.find(({ kind }) => kind === "install");
  if (service === undefined || install === undefined) return downloaded;
  const fetched = scripts
    .filter(({ kind }) => inOneLine[kind] !== undefined)
    .map(({ kind, path }) => ({
      label: `${verbs[kind]} in one line`,
      text: fetchedCommand(service + path),
      hint: inOneLine[kind],
    }));
  const url = service + install.path;
  return [
    ...fetched,
    ...downloaded,
    { label: "Address of the install script", text: url },
    { label: "Download it from a shell", text: curlCommand(url), hint: "In PowerShell: curl.exe." },
  ];
}
