/** The values of a field with their labels. The first is the default. */
export type Choices<T extends string = string> = readonly [Choice<T>, ...Choice<T>[]];
type Choice<T extends string> = readonly [value: T, label: string];

/** The value that keeps the driver's own setting. */
const driversOwn = ["", "Driver default"] as const;

export const protocols = [
  ["raw", "RAW (JetDirect, AppSocket)"],
  ["lpr", "LPR"],
  ["ipp", "IPP"],
] as const;

export const duplexModes = [
  driversOwn,
  ["one_sided", "One-sided"],
  ["long_edge", "Two-sided, long edge"],
  ["short_edge", "Two-sided, short edge"],
] as const;

export const colorModes = [driversOwn, ["color", "Colour"], ["mono", "Black and white"]] as const;

export const collateModes = [driversOwn, ["on", "Collated"], ["off", "Not collated"]] as const;

export const paperSizes = [
  driversOwn,
  ["A4", "A4"],
  ["A3", "A3"],
  ["A5", "A5"],
  ["Letter", "Letter"],
  ["Legal", "Legal"],
  ["Tabloid", "Tabloid"],
  ["Executive", "Executive"],
  ["Statement", "Statement"],
  ["B4", "B4"],
  ["B5", "B5"],
] as const;

export type ValueOf<List extends Choices> = List[number][0];

export function valuesOf<const T extends string>([first, ...rest]: Choices<T>): readonly [T, ...T[]] {
  return [first[0], ...rest.map(([value]) => value)];
}

/** The label of a value, or the value itself if it has none. */
export function labelOf<T extends string>(choices: Choices<T>, value: T): string {
  return choices.find(([known]) => known === value)?.[1] ?? value;
}

const choicesOf: ReadonlyMap<string, Choices> = new Map<string, Choices>([
  ["protocol", protocols],
  ["duplex", duplexModes],
  ["color", colorModes],
  ["collate", collateModes],
  ["paper_size", paperSizes],
]);

/** A setting's value as the form shows it. */
export function valueLabel(setting: string, value: string): string {
  const choices = choicesOf.get(setting);
  return choices === undefined ? value : labelOf(choices, value);
}
