/**
 * A PowerShell file without the pieces that nothing needs: what stands between a line `#<if name>` and the line `#</if>`
 * that belongs to it is left out where `isNeeded` says so of none of the names, between which `|` stands.
 * @throws Error where a piece does not end, or ends without a beginning
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

/** What stands before `#<name>` and behind `#</name>`. */
export function aroundRegion(body: string, name: string): [string, string] {
  const start = body.indexOf(`#<${name}>`);
  const closing = `#</${name}>`;
  const end = body.indexOf(closing, start);
  if (start < 0 || end < 0) throw new Error(`a script has no region ${name}`);
  return [body.slice(0, start), body.slice(end + closing.length)];
}

/** Each step of indentation is one character, because Intune takes 50 KB of an installing script. */
export function tabbed(text: string): string {
  return text.replace(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4));
}

/** Lines end with CRLF. */
export function fileBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll("\n", "\r\n"), "utf8");
}
