/** Markup. Only the `html` tag makes one, so text from outside can never pass for it. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Renders markup: text in holes is escaped, lists are joined, nothing is nothing. */
  static readonly tag = (parts: TemplateStringsArray, ...holes: Hole[]): Html => {
    let text = parts[0] ?? "";
    for (let i = 0; i < holes.length; i++) text += render(holes[i]) + parts[i + 1];
    return new Html(text);
  };

  toString(): string {
    return this.#text;
  }
}

/** What can stand in a template. A Promise or an object cannot: it does not compile. */
export type Hole = Html | string | number | false | null | undefined | readonly Hole[];

export const html = Html.tag;

function render(hole: Hole): string {
  if (typeof hole === "string") return escapeHtml(hole);
  if (hole instanceof Html) return hole.toString();
  if (typeof hole === "number") return String(hole);
  return typeof hole === "object" && hole !== null ? renderAll(hole) : "";
}

function renderAll(holes: readonly Hole[]): string {
  let text = "";
  for (const hole of holes) text += render(hole);
  return text;
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const special = /[&<>"'\0\u202a-\u202e\u2066-\u2069]/;

/** What turns the direction of the text behind it is shown as the place where it stands, like what cannot be shown. */
function escapeHtml(text: string): string {
  // Most texts are plain, and looking is far quicker than replacing nothing.
  if (!special.test(text)) return text;
  return text
    .replace(/[&<>"']/g, (character) => entities[character] ?? character)
    .replace(/[\0\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}
