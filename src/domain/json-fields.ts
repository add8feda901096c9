/**
 * A JSON object that this or any other version of Platen saved. If a field is absent or has the wrong type, the methods
 * return its default.
 */
export class JsonFields {
  readonly #fields: Readonly<Record<string, unknown>>;

  private constructor(fields: object) {
    this.#fields = fields as Record<string, unknown>;
  }

  /** @throws Error if the text is not JSON, or not an object */
  static parse(text: string): JsonFields {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return new JsonFields(value);
    throw new Error("its JSON is no object");
  }

  text(name: string, fallback = ""): string {
    return this.textOrNull(name) ?? fallback;
  }

  textOrNull(name: string): string | null {
    const value = this.#fields[name];
    return typeof value === "string" ? value : null;
  }

  flag(name: string): boolean {
    return this.#fields[name] === true;
  }

  /** A whole number from `min` to `max`. */
  integer(name: string, fallback = 0, min = 0, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.#fields[name];
    return Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
      ? Number(value)
      : fallback;
  }

  /** One of `choices`; the first of them if the field has no such value. */
  choice<const T extends string>(name: string, choices: readonly [T, ...T[]]): T {
    return choices.find((choice) => choice === this.#fields[name]) ?? choices[0];
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#fields, name);
  }

  texts(name: string): string[] {
    return this.#list(name).filter((item) => typeof item === "string");
  }

  objects(name: string): JsonFields[] {
    return this.#list(name)
      .filter(isObject)
      .map((item) => new JsonFields(item));
  }

  lists(name: string): unknown[][] {
    return this.#list(name).filter(Array.isArray);
  }

  #list(name: string): unknown[] {
    const value = this.#fields[name];
    return Array.isArray(value) ? value : [];
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
