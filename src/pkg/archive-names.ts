import { UserError } from "../domain/errors.ts";

const cp437High =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/** Decodes a ZIP file name that is not marked as UTF-8, after IBM code page 437. */
export function decodeCp437(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte < 0x80 ? String.fromCharCode(byte) : (cp437High[byte - 0x80] ?? "");
  return text;
}

const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\.|$)/i;
const maxPathLength = 240;

/**
 * Refuses every name that would leave the folder it is unpacked into, or that Windows cannot create.
 * @throws UserError "invalid" with a sentence that shows the name.
 */
export function checkPath(path: string): void {
  const problem = problemOf(path);
  if (problem === undefined) return;
  const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path;
  throw new UserError("invalid", `This ZIP is refused: the name “${shown}” ${problem}.`);
}

function problemOf(path: string): string | undefined {
  if (path === "" || path === "/") return "is empty";
  if (path.length > maxPathLength) return `is longer than ${maxPathLength} characters`;
  if (/^[a-z]:/i.test(path)) return "starts with a drive letter";
  if (path.startsWith("/")) return "is absolute";
  if (/[\u0000-\u001f\u007f]/.test(path)) return "contains a control character";
  const parts = path.replace(/\/$/, "").split("/");
  if (parts.includes("..")) return "leads out of its folder";
  if (parts.some((part) => part === "" || part === ".")) return "contains an empty folder name";
  if (parts.some((part) => deviceName.test(part))) return "is the name of a Windows device";
  if (/[<>:"|?*]/.test(path)) return "contains a character that Windows does not allow";
  if (parts.some((part) => /[. ]$/.test(part))) return "ends with a dot or a blank, which Windows drops";
  return undefined;
}
