import { badRequest } from "./answers.ts";

/** A JSON object. */
export type Fields = Record<string, unknown>;

export type Check = (value: unknown) => boolean;

/** An object without unknown properties. */
export interface Shape {
  /** The value of `@odata.type`; it may be missing if `isTypeOptional`. */
  readonly type: string;
  readonly isTypeOptional?: boolean;
  /** A property whose name ends with `?` may be missing. */
  readonly properties: Readonly<Record<string, Check>>;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @throws a refusal when the value is not an object */
export function fieldsOf(value: unknown): Fields {
  if (!isFields(value)) throw badRequest(`${JSON.stringify(value)} must be an object.`);
  return value;
}

/** @returns the only property of a request's body. @throws a refusal of others */
export function onlyField(body: unknown, name: string): unknown {
  const { [name]: value, "@odata.type": _, ...more } = fieldsOf(body);
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw badRequest(`The property '${unknown}' does not exist.`);
  return value;
}

/** @throws a refusal of a body whose only property is no list */
export function onlyList(body: unknown, name: string): unknown[] {
  const list = onlyField(body, name);
  if (!Array.isArray(list)) throw badRequest(`${name} must be an array.`);
  return list;
}

/** @param isPart whether all properties may be missing @returns what is wrong, or an empty string */
function problemIn(value: unknown, { type, isTypeOptional, properties }: Shape, isPart: boolean): string {
  if (!isFields(value)) return `${type} must be an object.`;
  const { "@odata.type": found, ...fields } = value;
  if (found !== type && !(found === undefined && isTypeOptional === true))
    return `@odata.type must be ${type}, found ${found}.`;
  for (const [name, each] of Object.entries(fields)) {
    const check = properties[name] ?? properties[`${name}?`];
    if (!check) return `The property '${name}' does not exist on type '${type}'.`;
    if (!check(each)) return `${type}: ${name} must not be ${JSON.stringify(each)}.`;
  }
  const isMissing = (name: string) => !name.endsWith("?") && !(name in fields);
  const missing = isPart ? undefined : Object.keys(properties).find(isMissing);
  return missing === undefined ? "" : `${type}: ${missing} is missing.`;
}

/** @throws a refusal of an object with another type, or missing, unknown or invalid properties */
export function checkShape(value: unknown, shape: Shape, isPart = false): Fields {
  const problem = problemIn(value, shape, isPart);
  if (problem !== "") throw badRequest(problem);
  return fieldsOf(value);
}

export const shaped =
  (...shapes: readonly Shape[]): Check =>
  (value) =>
    shapes.some((shape) => problemIn(value, shape, false) === "");

export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

/** A string; lengths in UTF-16 units. `shortest` counts without surrounding blanks. */
export const text =
  (longest: number, shortest = 0): Check =>
  (value) =>
    typeof value === "string" && value.trim().length >= shortest && value.length <= longest;

export const boolean: Check = (value) => typeof value === "boolean";

export const mustBeNull: Check = (value) => value === null;

export const integer =
  (least: number, most: number): Check =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;

export const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    typeof value === "string" && words.includes(value);

/** A list in which no two items have the same key. */
export const listOf =
  (check: Check, shortest: number, keyOf: (item: unknown) => unknown = (item) => item): Check =>
  (value) =>
    Array.isArray(value) &&
    value.length >= shortest &&
    value.every(check) &&
    new Set(value.map(keyOf)).size === value.length;

/** Canonical base64 of at least one byte. */
export const base64 =
  (isValid: (bytes: Buffer) => boolean): Check =>
  (value) => {
    const bytes = Buffer.from(String(value), "base64");
    return bytes.length > 0 && bytes.toString("base64") === value && isValid(bytes);
  };

export const guid: Check = (value) =>
  typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
