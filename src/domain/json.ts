import { UserError } from "./errors.ts";

/** What JSON can say; objects are maps, so that no name means anything but itself. */
export type Json = string | number | boolean | null | Json[] | JsonObject;
export type JsonObject = ReadonlyMap<string, Json>;

const mostDepth = 16;
const mostValues = 500_000;
/** Of one text, in UTF-16 code units. */
const mostCharacters = 32_767;
/** So many values, or characters, are read between two steps. */
const stepValues = 500;
const stepCharacters = 128 * 1024;
/** Of a text as it is written: each character may be an escape of six. */
const mostWritten = 6 * mostCharacters;

/**
 * Reads JSON from outside in steps, so that a long text holds nobody up, and without recursion.
 * @throws UserError "invalid" where it is no JSON, or more than a list of printers ever is
 */
export function readJson(text: string): Generator<undefined, Json> {
  return new JsonReader(text).read();
}

type Container = { readonly list: Json[] } | { readonly object: Map<string, Json>; name: string };

class JsonReader {
  readonly #text: string;
  #at = 0;
  readonly #open: Container[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  *read(): Generator<undefined, Json> {
    for (let values = 1, stepped = 0; ; values++) {
      if (values > mostValues)
        throw new UserError("invalid", `This JSON has more than ${mostValues} values.`);
      if (values % stepValues === 0 || this.#at - stepped > stepCharacters) {
        yield;
        stepped = this.#at;
      }
      const value = this.#value();
      if (value === undefined) continue;
      const whole = this.#put(value);
      if (whole === undefined) continue;
      if (this.#next() !== "") throw this.#broken();
      return whole;
    }
  }

  /** The value that stands here; undefined where it is a container whose first value comes next. */
  #value(): Json | undefined {
    const character = this.#next();
    if (character === "{" || character === "[") return this.#begin(character);
    if (character === '"') return this.#string();
    return this.#word();
  }

  #begin(character: string): Json | undefined {
    this.#at++;
    const isList = character === "[";
    if (this.#next() === (isList ? "]" : "}")) {
      this.#at++;
      return isList ? [] : new Map();
    }
    if (this.#open.length === mostDepth) throw new UserError("invalid", "This JSON is nested too deeply.");
    this.#open.push(isList ? { list: [] } : { object: new Map(), name: this.#name() });
    return undefined;
  }

  /** Puts a value where it belongs, and closes what ends behind it. @returns what was closed last of all */
  #put(value: Json): Json | undefined {
    let whole = value;
    for (let inner = this.#open.at(-1); inner !== undefined; inner = this.#open.at(-1)) {
      if ("list" in inner) inner.list.push(whole);
      else inner.object.set(inner.name, whole);
      const character = this.#next();
      this.#at++;
      if (character === ",") {
        if ("object" in inner) inner.name = this.#name();
        return undefined;
      }
      if (character !== ("list" in inner ? "]" : "}")) throw this.#broken();
      whole = "list" in inner ? inner.list : inner.object;
      this.#open.pop();
    }
    return whole;
  }

  #name(): string {
    if (this.#next() !== '"') throw this.#broken();
    const name = this.#string();
    if (this.#next() !== ":") throw this.#broken();
    this.#at++;
    return name;
  }

  #string(): string {
    const start = this.#at;
    const isWithin = (at: number) => at > 0 && at - start <= mostWritten + 1;
    let end = this.#text.indexOf('"', start + 1);
    while (isWithin(end) && this.#isEscaped(end, start)) end = this.#text.indexOf('"', end + 1);
    if (!isWithin(end)) throw this.#broken();
    this.#at = end + 1;
    const value = this.#parsed(this.#text.slice(start, end + 1));
    if (typeof value !== "string" || value.length > mostCharacters) throw this.#broken();
    return value;
  }

  #isEscaped(at: number, start: number): boolean {
    let first = at;
    while (first - 1 > start && this.#text[first - 1] === "\\") first--;
    return (at - first) % 2 === 1;
  }

  /** A number, or one of the three words. */
  #word(): Json {
    const start = this.#at;
    while (this.#at - start < 40 && /[\w.+-]/.test(this.#text[this.#at] ?? "")) this.#at++;
    return this.#parsed(this.#text.slice(start, this.#at));
  }

  #parsed(text: string): Json {
    try {
      return JSON.parse(text) as Json;
    } catch {
      throw this.#broken();
    }
  }

  /** The next character that is no blank; empty at the end. By codes, since there may be millions of blanks. */
  #next(): string {
    let at = this.#at;
    while (isBlank(this.#text.charCodeAt(at))) at++;
    this.#at = at;
    return this.#text[at] ?? "";
  }

  #broken(): UserError {
    const message = `This JSON is cut off or damaged near character ${this.#at + 1}. Copy it again, from its first brace to its last.`;
    return new UserError("invalid", message);
  }
}

/** A space, a line feed, a carriage return or a tabulator. */
function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}
