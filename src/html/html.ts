/** Markup. Only the `html` tag creates it, so text from outside is never taken for markup. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Escapes text, joins lists, and renders `false`, `null` and `undefined` as nothing. */
  static readonly tag = (parts: TemplateStringsArray, ...holes: Hole[]): Html => {
    let text = parts[0] ?? "";
    for (let i = 0; i < holes.length; i++) text += render(holes[i]) + parts[i + 1];
    return new Html(text);
  };

  toString(): string {
    return this.#text;
  }
}

/** The values that a template accepts. A Promise or another object does not compile. */
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

/** Also replaces NUL, and characters that change the text direction, with U+FFFD. */
function escapeHtml(text: string): string {
  // Most texts are plain, and this test is far quicker than two replacements.
  if (!special.test(text)) return text;
  return text
    .replace(/[&<>"']/g, (character) => entities[character] ?? character)
    .replace(/[\0\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}
