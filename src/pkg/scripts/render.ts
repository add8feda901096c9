import { type Deployment, type ScriptSettings, scriptSettings } from "./deployment.ts";
import { type ScriptKind, type ScriptSource, scriptKinds, scriptSources } from "./parts.ts";
import { asciiPowershell, powershell } from "./powershell.ts";

export { type ScriptKind, scriptKinds };

/** Each script without its settings. */
const composed: Readonly<Record<ScriptKind, string>> = {
  install: compose(scriptSources.install),
  uninstall: compose(scriptSources.uninstall),
  detect: compose(scriptSources.detect),
};

function compose({ body, parts }: ScriptSource): string {
  return replaceRegion(body, "parts", parts.map((part) => part.trim()).join("\n\n"));
}

/** A deployment's script, as `scriptOf` makes it. */
export function renderScript(kind: ScriptKind, deployment: Deployment): Buffer {
  return scriptOf(kind, scriptSettings(deployment));
}

/**
 * A script as a file: its body with the settings and its parts in their places. Install and uninstall are
 * UTF-8 with a byte order mark, which Windows PowerShell needs to see; detect is ASCII, because Intune may
 * store it in another encoding. Lines end with CRLF.
 */
export function scriptOf(kind: ScriptKind, settings: ScriptSettings): Buffer {
  const isAscii = kind === "detect";
  const block = isAscii ? asciiPowershell`$Settings = ${settings}` : powershell`$Settings = ${settings}`;
  const text = replaceRegion(composed[kind], "settings", block);
  return Buffer.from(
    (isAscii ? "" : "\ufeff") + text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n"),
    "utf8",
  );
}

/** Puts `text` in the place of everything between `#<name>` and `#</name>`, both included. */
function replaceRegion(body: string, name: string, text: string): string {
  const start = body.indexOf(`#<${name}>`);
  const closing = `#</${name}>`;
  const end = body.indexOf(closing, start);
  if (start < 0 || end < 0) throw new Error(`a script has no region ${name}`);
  return body.slice(0, start) + text + body.slice(end + closing.length);
}
