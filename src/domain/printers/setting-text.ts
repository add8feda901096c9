import { isTicked } from "../fields.ts";
import { printerDefaults } from "./printer-fields.ts";
import { valueLabel } from "./setting-values.ts";

const flags = new Set([
  ...Object.entries(printerDefaults).flatMap(([name, value]) => (typeof value === "boolean" ? name : [])),
  "trust_publisher",
  "drop_unused",
]);

const maxCharacters = 80;

/** The value of a form field in words, on one line, shortened. Empty for an empty field. */
export function settingText(name: string, value: string): string {
  if (flags.has(name)) return isTicked(value) ? "ticked" : "not ticked";
  if (name === "print_ticket" && value !== "") return "another ticket";
  const text = valueLabel(name, value).replaceAll("\n", ", ");
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
