import { vendorOf } from "./driver.ts";

/** Printer makers, spelled as their models' names begin. */
export const printerMakers: readonly string[] = [
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

/** Beginnings of company names that do not begin with the maker's name. */
const otherSpellings: readonly (readonly [beginning: string, maker: string])[] = [
  ["Hewlett-Packard", "HP"],
  ["Hewlett Packard", "HP"],
  ["Seiko Epson", "EPSON"],
  ["Triumph-Adler", "TA Triumph-Adler"],
];

/** A company's usual name: `Kyocera` for `KYOCERA Document Solutions Inc.`. Unknown companies lose their legal form. */
export function makerName(company: string): string {
  const maker = printerMakers.find((known) => startsWithWord(company, known));
  const other = otherSpellings.find(([beginning]) => startsWithWord(company, beginning))?.[1];
  return (maker ?? other ?? withoutLegalForm(company)).split(" ").map(withoutCapitals).join(" ");
}

/** Without dots and commas, in lower case. */
const legalForms = new Set(
  "ab ag as bv co company corp corporation gmbh inc incorporated kg kk limited llc ltd nv oy plc pty sa sas spa srl".split(
    " ",
  ),
);

function withoutLegalForm(company: string): string {
  const words = company.split(/\s+/).filter(Boolean);
  const isForm = (word = "") =>
    /^[&.,]+$/.test(word) || legalForms.has(word.replace(/[.,]/g, "").toLowerCase());
  while (words.length > 1 && isForm(words.at(-1))) words.pop();
  return words.join(" ").replace(/,$/, "");
}

/** `Ricoh` for `RICOH`. Up to four capitals are an abbreviation. */
function withoutCapitals(word: string): string {
  return /^[A-Z]{5,}$/.test(word) ? word.charAt(0) + word.slice(1).toLowerCase() : word;
}

export function startsWithWord(text: string, word: string): boolean {
  const lower = text.slice(0, word.length + 1).toLowerCase();
  return lower.startsWith(word.toLowerCase()) && !/[\p{L}\p{N}]/u.test(lower.slice(word.length));
}
