/** Markup. Only the `html` tag makes one, so text from outside can never pass for it. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Renders markup: text in holes is escaped, lists are joined, nothing is nothing. */
  static readonly tag = (parts: TemplateStringsArray, ...holes: Hole[]): Html =>
    new Html(parts.reduce((text, part, i) => text + render(holes[i - 1]) + part));

  toString(): string {
    return this.#text;
  }
}

/** What can stand in a template. A Promise or an object cannot: it does not compile. */
export type Hole = Html | string | number | false | null | undefined | readonly Hole[];

export const html = Html.tag;

function render(hole: Hole): string {
  if (hole === null || hole === undefined || hole === false) return "";
  if (hole instanceof Html) return hole.toString();
  if (typeof hole === "object") return hole.map(render).join("");
  return escapeHtml(String(hole));
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character).replaceAll("\0", "\ufffd");
}
