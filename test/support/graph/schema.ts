import { badRequest } from "./answers.ts";

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** Throws a refusal of an invalid value. @param place the value's path, for the message */
export type Check = (value: unknown, place: string) => void;

/** An object without unknown properties. */
export interface Shape {
  /** The value of `@odata.type`; it may be missing if `isTypeOptional`. */
  readonly type: string;
  readonly isTypeOptional?: boolean;
  readonly properties: Readonly<Record<string, Check>>;
  readonly required?: readonly string[];
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @throws a refusal when the value is not an object */
export function fieldsOf(value: unknown, place: string): Fields {
  if (!isFields(value)) throw badRequest(`${place} must be an object.`);
  return value;
}

/** Checks an object's type, its properties, and that no required property is missing. */
export function checkShape(value: unknown, place: string, shape: Shape): Fields {
  const fields = fieldsOf(value, place);
  checkProperties(fields, place, shape);
  for (const name of shape.required ?? [])
    if (fields[name] === undefined || fields[name] === null)
      throw badRequest(`${place}: ${name} is missing.`);
  return fields;
}

/** As `checkShape`, but required properties may be missing. */
export function checkProperties(fields: Fields, place: string, shape: Shape): void {
  checkType(fields["@odata.type"], place, shape);
  for (const [name, value] of Object.entries(fields)) {
    if (name === "@odata.type") continue;
    const check = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    if (!check)
      throw badRequest(`The property '${name}' does not exist on type '${shape.type.slice(1)}' (${place}).`);
    check(value, `${place}.${name}`);
  }
}

function checkType(found: unknown, place: string, { type, isTypeOptional }: Shape): void {
  if (found === undefined && isTypeOptional === true) return;
  if (found !== type)
    throw badRequest(`${place}: @odata.type must be ${type}, found ${JSON.stringify(found)}.`);
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

/** A string; lengths in UTF-16 units. `shortest` counts without surrounding blanks. */
export const text =
  (longest: number, shortest = 0): Check =>
  (value, place) => {
    if (typeof value !== "string")
      throw badRequest(`${place} must be a string, found ${JSON.stringify(value)}.`);
    if (value.trim().length < shortest) throw badRequest(`${place} must not be empty.`);
    if (value.length > longest) throw badRequest(`${place} is longer than ${longest} characters.`);
  };

export const boolean: Check = (value, place) => {
  if (typeof value !== "boolean")
    throw badRequest(`${place} must be a boolean, found ${JSON.stringify(value)}.`);
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
      throw badRequest(
        `${place} must be a whole number from ${least} to ${most}, found ${JSON.stringify(value)}.`,
      );
  };

export const oneOf =
  (...words: readonly string[]): Check =>
  (value, place) => {
    if (typeof value !== "string" || !words.includes(value))
      throw badRequest(`${place} must be one of ${words.join(", ")}, found ${JSON.stringify(value)}.`);
  };

/** A list in which no two items have the same key. */
export const listOf =
  (check: Check, shortest: number, keyOf: (item: unknown) => unknown = (item) => item): Check =>
  (value, place) => {
    if (!Array.isArray(value)) throw badRequest(`${place} must be an array.`);
    if (value.length < shortest) throw badRequest(`${place} must not be empty.`);
    for (const [i, item] of value.entries()) check(item, `${place}[${i}]`);
    if (new Set(value.map(keyOf)).size !== value.length) throw badRequest(`${place} has an item twice.`);
  };

/** @returns undefined unless the value is canonical base64 of at least one byte */
export function bytesOfBase64(value: unknown): Buffer | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const bytes = Buffer.from(value, "base64");
  return bytes.toString("base64") === value ? bytes : undefined;
}

export const base64 =
  (isValid: (bytes: Buffer) => boolean, what: string): Check =>
  (value, place) => {
    const bytes = bytesOfBase64(value);
    if (!bytes || !isValid(bytes)) throw badRequest(`${place} must be ${what} in base64.`);
  };

const guidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const guid: Check = (value, place) => {
  if (typeof value !== "string" || !guidPattern.test(value))
    throw badRequest(`${place} must be a GUID, found ${JSON.stringify(value)}.`);
};
