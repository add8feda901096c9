import { vendorOf } from "../drivers/driver.ts";

/** Printer makers, spelled as their models' names begin. */
const printerMakers = [
  "Bixolon",
  "Brother",
  "Canon",
  "Citizen",
  "Dell",
  "Develop",
  "DYMO",
  "EPSON",
  "Fuji Xerox",
  "FUJIFILM",
  "Gestetner",
  "HP",
  "infotec",
  "KONICA MINOLTA",
  "Kyocera",
  "Lanier",
  "Lexmark",
  "Microsoft",
  "Nashuatec",
  "NRG",
  "OKI",
  "Olivetti",
  "Panasonic",
  "Pantum",
  "Ricoh",
  "Samsung",
  "SATO",
  "Savin",
  "SHARP",
  "Star",
  "TA Triumph-Adler",
  "TOSHIBA",
  "TSC",
  "UTAX",
  "Xerox",
  "Zebra",
];

/** The rest is ignored: an INF may name any number of manufacturers. */
const maxMakers = 200;

/**
 * The publisher of a driver: its provider, or, if the INF names no useful provider, the maker with whose name the model
 * begins.
 * @param manufacturers names in the INF
 * @returns undefined if the publisher is unknown
 */
export function publisherOf(
  provider: string | null,
  description: string,
  manufacturers: readonly string[] = [],
): string | undefined {
  const named = vendorOf(provider)?.trim();
  if (named) return named;
  const own = manufacturers.slice(0, maxMakers).filter((maker) => maker !== "" && vendorOf(maker));
  return [...own, ...printerMakers].find((maker) => startsWithWord(description, maker));
}

function startsWithWord(text: string, word: string): boolean {
  const lower = text.slice(0, word.length + 1).toLowerCase();
  return lower.startsWith(word.toLowerCase()) && !/[\p{L}\p{N}]/u.test(lower.slice(word.length));
}
