import type { Json, JsonObject } from "./json.ts";

// What Windows PowerShell writes of objects.

/** A list of objects, also as Windows PowerShell writes it at times: one alone, or with its count. */
export function objectsIn(value: Json | undefined): JsonObject[] {
  if (Array.isArray(value)) return value.filter((item): item is Map<string, Json> => item instanceof Map);
  if (!(value instanceof Map)) return [];
  const inner = value.get("value");
  if (Array.isArray(inner)) return objectsIn(inner);
  return value.size > 0 ? [value] : [];
}

export function textOf(object: JsonObject | undefined, name: string): string {
  const value = object?.get(name);
  if (value instanceof Map) return textOf(value, "value");
  return value === null || value === undefined || Array.isArray(value) ? "" : String(value);
}

export function key(text: string): string {
  return text.trim().toLowerCase();
}
