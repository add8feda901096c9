import changing from "./changing.ps1";
import common from "./common.ps1";
import { type Deployment, type ScriptSettings, scriptSettings } from "./deployment.ts";
import detect from "./detect.ps1";
import install from "./install.ps1";
import { asciiPowershell, powershell } from "./powershell.ts";
import uninstall from "./uninstall.ps1";

export const scriptKinds = ["install", "uninstall", "detect"] as const;
export type ScriptKind = (typeof scriptKinds)[number];

const bodies: Record<ScriptKind, { readonly body: string; readonly shared: string }> = {
  install: { body: install, shared: `${common}\n${changing}` },
  uninstall: { body: uninstall, shared: `${common}\n${changing}` },
  detect: { body: detect, shared: common },
};

/** A deployment's script, as `scriptOf` makes it. */
export function renderScript(kind: ScriptKind, deployment: Deployment): Buffer {
  return scriptOf(kind, scriptSettings(deployment));
}

/**
 * A script as a file: its body with the settings and the shared functions in their places. Install and
 * uninstall are UTF-8 with a byte order mark, which Windows PowerShell needs to see; detect is ASCII,
 * because Intune may store it in another encoding. Lines end with CRLF.
 */
export function scriptOf(kind: ScriptKind, settings: ScriptSettings): Buffer {
  const isAscii = kind === "detect";
  const block = isAscii ? asciiPowershell`$Settings = ${settings}` : powershell`$Settings = ${settings}`;
  const { body, shared } = bodies[kind];
  const text = replaceRegion(replaceRegion(body, "common", shared.trim()), "settings", block);
  return Buffer.from(
    (isAscii ? "" : "\ufeff") + text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n"),
    "utf8",
  );
}

/** Puts `text` in the place of everything between `#<name>` and `#</name>`, marks included. */
function replaceRegion(body: string, name: string, text: string): string {
  const start = body.indexOf(`#<${name}>`);
  const closing = `#</${name}>`;
  const end = body.indexOf(closing, start);
  if (start < 0 || end < 0) throw new Error(`a script has no region ${name}`);
  return body.slice(0, start) + text + body.slice(end + closing.length);
}
