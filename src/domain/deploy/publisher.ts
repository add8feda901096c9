import { vendorOf } from "../drivers/driver.ts";

/** Makers of printers, as the first words of their models' names. */
const makers = [
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

/** No INF needs more makers than these to be looked at. */
const consideredMakers = 200;

/**
 * Whose software a driver is: its provider; where the INF leaves that open, the maker with whose name the model begins.
 * @param manufacturers those that the INF names
 * @returns undefined where nothing says so
 */
export function publisherOf(
  provider: string | null,
  description: string,
  manufacturers: readonly string[] = [],
): string | undefined {
  const named = vendorOf(provider)?.trim();
  if (named) return named;
  const own = manufacturers.slice(0, consideredMakers).filter((maker) => maker !== "" && vendorOf(maker));
  return [...own, ...makers].find((maker) => startsWithWord(description, maker));
}

function startsWithWord(text: string, word: string): boolean {
  const lower = text.slice(0, word.length + 1).toLowerCase();
  return lower.startsWith(word.toLowerCase()) && !/[\p{L}\p{N}]/u.test(lower.slice(word.length));
}
