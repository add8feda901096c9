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

/** @returns the only property of a request's body. @throws a refusal of others */
export function onlyField(body: unknown, name: string): unknown {
  const { [name]: value, "@odata.type": _, ...more } = fieldsOf(body, "The body");
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw badRequest(`The property '${unknown}' does not exist.`);
  return value;
}

/** Checks an object's type, its properties, and that no required property is missing. */
export function checkShape(value: unknown, place: string, shape: Shape): Fields {
  const fields = fieldsOf(value, place);
  checkProperties(fields, place, shape);
  const missing = shape.required?.find((name) => fields[name] === undefined || fields[name] === null);
  if (missing !== undefined) throw badRequest(`${place}: ${missing} is missing.`);
  return fields;
}

/** As `checkShape`, but required properties may be missing. */
export function checkProperties(fields: Fields, place: string, { type, ...shape }: Shape): void {
  const { "@odata.type": found, ...properties } = fields;
  if (found !== type && !(found === undefined && shape.isTypeOptional === true))
    throw badRequest(`${place}: @odata.type must be ${type}, found ${JSON.stringify(found)}.`);
  for (const [name, value] of Object.entries(properties)) {
    const check = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    if (!check) throw badRequest(`The property '${name}' does not exist on type '${type}' (${place}).`);
    check(value, `${place}.${name}`);
  }
}

/** A check that refuses all values for which `isValid` is false. */
const checkThat =
  (isValid: (value: unknown) => boolean, what: string): Check =>
  (value, place) => {
    if (!isValid(value)) throw badRequest(`${place} must be ${what}, found ${JSON.stringify(value)}.`);
  };

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
export const text = (longest: number, shortest = 0): Check =>
  checkThat(
    (value) => typeof value === "string" && value.trim().length >= shortest && value.length <= longest,
    `a string of ${shortest} to ${longest} characters`,
  );

export const boolean = checkThat((value) => typeof value === "boolean", "a boolean");

export const mustBeNull = checkThat((value) => value === null, "null");

export const integer = (least: number, most: number): Check =>
  checkThat(
    (value) => typeof value === "number" && Number.isInteger(value) && value >= least && value <= most,
    `a whole number from ${least} to ${most}`,
  );

export const oneOf = (...words: readonly string[]): Check =>
  checkThat((value) => typeof value === "string" && words.includes(value), `one of ${words.join(", ")}`);

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

export const base64 = (isValid: (bytes: Buffer) => boolean, what: string): Check =>
  checkThat((value) => {
    const bytes = bytesOfBase64(value);
    return bytes !== undefined && isValid(bytes);
  }, `${what} in base64`);

const guidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const guid = checkThat((value) => typeof value === "string" && guidPattern.test(value), "a GUID");
