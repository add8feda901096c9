// Numbers and names as they stand in sentences.

const thin = "\u202f";
/** Made once: a formatter takes longer to make than a page of numbers to write. */
const grouped = new Intl.NumberFormat("en-US");

/** `2 554`. */
export function count(number: number): string {
  return grouped.format(number).replaceAll(",", thin);
}

/** `1 printer`, `2 printers`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** The first names of a list, and how many there are besides. */
export function firstOf(names: readonly string[], limit: number, total = names.length): string {
  const rest = total - Math.min(limit, names.length);
  return names.slice(0, limit).join(", ") + (rest > 0 ? ` and ${count(rest)} more` : "");
}
