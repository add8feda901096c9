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
