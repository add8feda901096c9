import { wrong } from "./answers.ts";

/** Fields of a JSON object. */
export type Fields = Record<string, unknown>;

/** Refuses a value that is not what stands at that place. */
export type Check = (value: unknown, place: string) => void;

/** An object of which every property is known. */
export interface Shape {
  /** What `@odata.type` must say; it may be left out where it is optional. */
  readonly type: string;
  readonly isTypeOptional?: boolean;
  readonly properties: Readonly<Record<string, Check>>;
  readonly required?: readonly string[];
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object. @throws a refusal when it is none */
export function fieldsOf(value: unknown, place: string): Fields {
  if (!isFields(value)) throw wrong(`${place} must be an object.`);
  return value;
}

/** Checks an object's type and properties, and that none is missing that must be there. */
export function checkShape(value: unknown, place: string, shape: Shape): Fields {
  const fields = fieldsOf(value, place);
  checkProperties(fields, place, shape);
  for (const name of shape.required ?? [])
    if (fields[name] === undefined || fields[name] === null) throw wrong(`${place}: ${name} is missing.`);
  return fields;
}

/** Checks the properties that are there. */
export function checkProperties(fields: Fields, place: string, shape: Shape): void {
  checkType(fields["@odata.type"], place, shape);
  for (const [name, value] of Object.entries(fields)) {
    if (name === "@odata.type") continue;
    const check = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    if (!check)
      throw wrong(`The property '${name}' does not exist on type '${shape.type.slice(1)}' (${place}).`);
    check(value, `${place}.${name}`);
  }
}

function checkType(said: unknown, place: string, { type, isTypeOptional }: Shape): void {
  if (said === undefined && isTypeOptional === true) return;
  if (said !== type) throw wrong(`${place}: @odata.type must be ${type}, found ${JSON.stringify(said)}.`);
}

export const shaped =
  (shape: Shape): Check =>
  (value, place) => {
    checkShape(value, place, shape);
  };

export const orNull =
  (check: Check): Check =>
  (value, place) => {
    if (value !== null) check(value, place);
  };

/** A text of so many UTF-16 units at most. */
export const text =
  (longest: number, shortest = 0): Check =>
  (value, place) => {
    if (typeof value !== "string") throw wrong(`${place} must be a string, found ${JSON.stringify(value)}.`);
    if (value.trim().length < shortest) throw wrong(`${place} must not be empty.`);
    if (value.length > longest) throw wrong(`${place} is longer than ${longest} characters.`);
  };

export const boolean: Check = (value, place) => {
  if (typeof value !== "boolean") throw wrong(`${place} must be a boolean, found ${JSON.stringify(value)}.`);
};

export const integer =
  (least: number, most: number): Check =>
  (value, place) => {
    if (
      !Number.isInteger(value) ||
      Number(value) < least ||
      Number(value) > most ||
      typeof value !== "number"
    )
      throw wrong(
        `${place} must be a whole number from ${least} to ${most}, found ${JSON.stringify(value)}.`,
      );
  };

export const oneOf =
  (...words: readonly string[]): Check =>
  (value, place) => {
    if (typeof value !== "string" || !words.includes(value))
      throw wrong(`${place} must be one of ${words.join(", ")}, found ${JSON.stringify(value)}.`);
  };

/** A list without two items of the same key. */
export const listOf =
  (check: Check, shortest: number, keyOf: (item: unknown) => unknown = (item) => item): Check =>
  (value, place) => {
    if (!Array.isArray(value)) throw wrong(`${place} must be an array.`);
    if (value.length < shortest) throw wrong(`${place} must not be empty.`);
    for (const [i, item] of value.entries()) check(item, `${place}[${i}]`);
    if (new Set(value.map(keyOf)).size !== value.length) throw wrong(`${place} has an item twice.`);
  };

/** The bytes that base64 stands for, where it is written as it should be. */
export function bytesOfBase64(value: unknown): Buffer | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const bytes = Buffer.from(value, "base64");
  return bytes.toString("base64") === value ? bytes : undefined;
}

export const base64 =
  (isFine: (bytes: Buffer) => boolean, what: string): Check =>
  (value, place) => {
    const bytes = bytesOfBase64(value);
    if (!bytes || !isFine(bytes)) throw wrong(`${place} must be ${what} in base64.`);
  };

const guidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const guid: Check = (value, place) => {
  if (typeof value !== "string" || !guidPattern.test(value))
    throw wrong(`${place} must be a GUID, found ${JSON.stringify(value)}.`);
};
