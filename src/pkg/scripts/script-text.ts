/**
 * Removes the pieces of a PowerShell file that are not needed. A piece goes from a line `#<if name>` to its line `#</if>`.
 * Several names are separated by `|`, and the piece is kept if one of them is needed. Pieces may be nested.
 * @throws Error if a piece does not end, or ends without a beginning
 */
export function neededPieces<T extends string>(text: string, isNeeded: (name: T) => boolean): string {
  const kept: string[] = [];
  const open: boolean[] = [];
  for (const line of text.split("\n")) {
    const mark = line.trim();
    if (mark.startsWith("#<if ")) {
      const names = mark.slice("#<if ".length, -">".length).split("|") as T[];
      open.push(names.some(isNeeded));
    } else if (mark === "#</if>") {
      if (open.pop() === undefined) throw new Error("a piece of a script ends without a beginning");
    } else if (open.every(Boolean)) {
      kept.push(line);
    }
  }
  if (open.length > 0) throw new Error("a piece of a script does not end");
  return kept.join("\n");
}

/** The text before `#<name>` and after `#</name>`. @throws Error if there is no such region */
export function aroundRegion(body: string, name: string): [string, string] {
  const start = body.indexOf(`#<${name}>`);
  const closing = `#</${name}>`;
  const end = body.indexOf(closing, start);
  if (start < 0 || end < 0) throw new Error(`a script has no region ${name}`);
  return [body.slice(0, start), body.slice(end + closing.length)];
}

/** Indents with tabs instead of four spaces, because Intune accepts 50 KB of an install script. */
export function tabbed(text: string): string {
  return text.replace(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4));
}

/** UTF-8 with CRLF line ends. */
export function fileBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll("\n", "\r\n"), "utf8");
}
