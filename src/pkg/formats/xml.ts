/** Renders XML text: every hole is escaped. Characters that XML 1.0 cannot hold become U+FFFD. */
export function xml(parts: TemplateStringsArray, ...holes: (string | number)[]): string {
  return parts.reduce((text, part, i) => text + escapeXml(String(holes[i - 1] ?? "")) + part);
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
