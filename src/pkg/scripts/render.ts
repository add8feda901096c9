import { type Deployment, type ScriptSettings, scriptSettings } from "./deployment.ts";
import { type ScriptKind, scriptKinds, scriptSources } from "./parts.ts";
import { asciiPowershell, powershell } from "./powershell.ts";

export { type ScriptKind, scriptKinds };

/** What stands around the settings of a script, the same in all deployments. */
interface ScriptFrame {
  readonly before: Buffer;
  readonly after: Buffer;
}

export const scriptFrames: Readonly<Record<ScriptKind, ScriptFrame>> = {
  install: frameOf("install"),
  uninstall: frameOf("uninstall"),
  detect: frameOf("detect"),
};

function frameOf(kind: ScriptKind): ScriptFrame {
  const { body, parts } = scriptSources[kind];
  const [start, end] = aroundRegion(body, "parts");
  const [before, after] = aroundRegion(
    start + parts.map((part) => part.trim()).join("\n\n") + end,
    "settings",
  );
  return { before: fileBytes((isAscii(kind) ? "" : "\ufeff") + before), after: fileBytes(after) };
}

function isAscii(kind: ScriptKind): boolean {
  return kind === "detect";
}

function fileBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n"), "utf8");
}

/**
 * A deployment's script as a file: its body with the settings and its parts in their places. Install and uninstall are
 * UTF-8 with a byte order mark, which Windows PowerShell needs to see; detect is ASCII, because Intune may
 * store it in another encoding. Lines end with CRLF.
 */
export function renderScript(kind: ScriptKind, deployment: Deployment): Buffer {
  return renderSettings(kind, scriptSettings(deployment));
}

/** The same of settings that were made already. */
export function renderSettings(kind: ScriptKind, settings: ScriptSettings): Buffer {
  const { before, after } = scriptFrames[kind];
  return Buffer.concat([before, settingsOf(kind, settings), after]);
}

/** The piece of a script between those of its frame. */
export function settingsOf(kind: ScriptKind, settings: ScriptSettings): Buffer {
  const tag = isAscii(kind) ? asciiPowershell : powershell;
  return fileBytes(tag`$Settings = ${settings}`);
}

/** What stands before `#<name>` and behind `#</name>`. */
function aroundRegion(body: string, name: string): [string, string] {
  const start = body.indexOf(`#<${name}>`);
  const closing = `#</${name}>`;
  const end = body.indexOf(closing, start);
  if (start < 0 || end < 0) throw new Error(`a script has no region ${name}`);
  return [body.slice(0, start), body.slice(end + closing.length)];
}
