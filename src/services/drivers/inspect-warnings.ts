import { addTo } from "../../domain/collections.ts";
import { utf8Reading } from "../../domain/decode.ts";
import { fileNameOf, vendorOf } from "../../domain/drivers/driver.ts";
import { preselectedModel } from "../../domain/drivers/models.ts";
import { counted, escapeInvisible, firstOf } from "../../domain/text.ts";
import type { InfReading } from "../../inf/package.ts";
import type { SideEffects } from "../../inf/side-effects.ts";
import { driverFolder } from "../../pkg/scripts/driver-settings.ts";
import type { Archive } from "../../pkg/zip/archive.ts";
import type { Inspection } from "./inspect.ts";

/** The maximum length of a name or path in a warning. */
const maxCharacters = 120;
/** The maximum number of sentences about side effects, and of names in a sentence. */
const maxListed = 4;

/** Sentences for the operator about an archive's INFs. */
export function infWarnings({
  archive,
  readings,
  packed,
}: Pick<Inspection, "archive" | "readings" | "packed">): string[] {
  const printers = readings.filter(({ version }) => version.isPrinter);
  if (printers.length === 0) return [noPrinterWarning(readings, packed)];
  return [
    ...severalVendors(printers),
    ...longPathWarning(archive.entries),
    ...firstSentences(printers.flatMap(misreadWarning), "are UTF-8 without a byte order mark too"),
    ...firstSentences(printers.flatMap(localNameWarning), "have other names in other languages too"),
    ...firstSentences(sideEffectWarnings(readings), "do this too"),
  ];
}

/** Sentences about INFs: the first few, and how many more INFs there are. */
function firstSentences(sentences: readonly string[], whatOthersDo: string): string[] {
  const more = sentences.length - maxListed;
  const rest = more > 0 ? [`${more} more INFs of this ZIP ${whatOthersDo}.`] : [];
  return [...sentences.slice(0, maxListed), ...rest];
}

/** In UTF-16 code units, without the terminator: MAX_PATH of Windows. */
const windowsPathLimit = 259;
/** `C:\Windows\IMECache\` and an app's GUID with its version; RMM tools use shorter folders. */
const unpackFolderLength = 60;
const archivePathLimit = windowsPathLimit - unpackFolderLength - `${driverFolder}/`.length;

/** Warns of the longest path if Windows cannot unpack it from a printer's package. */
function longPathWarning(entries: Archive["entries"]): string[] {
  const long = entries.map(({ path }) => path).filter((path) => path.length > archivePathLimit);
  const longest = long.reduce((a, b) => (b.length > a.length ? b : a), "");
  if (longest === "") return [];
  const more =
    long.length > 1 ? `, and ${counted(long.length - 1, "more path is", "more paths are")} too long` : "";
  return [
    `The path of “${cut(longest)}” in this ZIP has ${longest.length} characters${more}. Windows unpacks packages below a folder of about ${unpackFolderLength} characters and cannot open paths of more than ${windowsPathLimit} there. If the INF is in a folder of this ZIP, zip only that folder, and upload that ZIP.`,
  ];
}

function misreadWarning({ path, misread }: InfReading): string[] {
  const [name] = misread;
  if (name === undefined) return [];
  const more = misread.length > 1 ? ` (and ${counted(misread.length - 1, "more name")})` : "";
  return [
    `“${cut(path)}” is UTF-8 without a byte order mark. Windows reads “${cut(utf8Reading(name) ?? "")}” as “${cut(name)}”${more}. Packages use the name that Windows reads.`,
  ];
}

/** The usual languages, by the id in `[Strings.xxxx]`. */
const languageNames: ReadonlyMap<string, string> = new Map([
  ["0407", "German"],
  ["0409", "English"],
  ["040a", "Spanish"],
  ["040c", "French"],
  ["0410", "Italian"],
  ["0411", "Japanese"],
  ["0413", "Dutch"],
  ["0c0a", "Spanish"],
]);

function localNameWarning({ path, models: { localized } }: InfReading): string[] {
  if (localized === undefined) return [];
  const inWords = localized.languages.map((id) => languageNames.get(id) ?? `the language ${cut(id)}`);
  const [language, ...others] = new Set(inWords);
  const name = cut(localized.name);
  const rest =
    others.length > 0 ? ` The INF also has names for other languages: ${firstOf(others, maxListed)}.` : "";
  return [
    `On Windows in ${language}, “${cut(path)}” calls the model “${cut(localized.localName)}”, not “${name}”.${rest} Packages use “${name}”, and installation may fail there: try it on one of those PCs first.`,
  ];
}

/** Plain words for device classes, by the class in lower case. */
const classNames: ReadonlyMap<string, string> = new Map([
  ["net", "network adapters"],
  ["nettrans", "network protocols"],
  ["netservice", "network services"],
  ["display", "graphics cards"],
  ["monitor", "monitors"],
  ["media", "sound and video devices"],
  ["image", "scanners and cameras"],
  ["usb", "USB devices"],
  ["usbdevice", "USB devices"],
  ["ports", "serial and parallel ports"],
  ["system", "system devices"],
  ["hidclass", "keyboards, mice and other input devices"],
  ["keyboard", "keyboards"],
  ["mouse", "mice"],
  ["bluetooth", "Bluetooth devices"],
  ["hdc", "disk controllers"],
  ["scsiadapter", "storage controllers"],
  ["diskdrive", "disks"],
  ["modem", "modems"],
  ["smartcardreader", "smart card readers"],
  ["biometric", "fingerprint readers"],
  ["softwarecomponent", "software that comes with a device"],
  ["extension", "extensions of other drivers"],
]);

/** Says which device an archive without a printer's INF is for. INFs without a class do not belong to a driver. */
function noPrinterWarning(readings: readonly InfReading[], packed: string | undefined): string {
  const drivers = readings.filter(({ version }) => version.class !== null);
  const [first] = drivers;
  if (first === undefined) {
    const remedy = packed ?? "Zip the folder with the printer’s INF, and upload that ZIP.";
    return `This ZIP contains no INF of a driver. ${remedy}`;
  }
  const name = first.version.class ?? "";
  const known = classNames.get(name.toLowerCase());
  const what = known === undefined ? `devices of the class ${cut(name)}` : `${known} (class ${cut(name)})`;
  const provider = vendorOf(first.version.provider);
  const of = provider === undefined ? "" : ` of ${cut(provider)}`;
  const rest = drivers.length > 1 ? ` and ${drivers.length - 1} more` : "";
  return `This is not a printer driver. It is for ${what}${of}: INF ${cut(first.path)}${rest}. Upload the printer driver.`;
}

/** Warns if an archive has printer drivers of several vendors, because each package contains the files of all. */
function severalVendors(printers: readonly InfReading[]): string[] {
  const vendors = new Map<string, string[]>();
  const named = printers.filter(({ models }) => models.descriptions.length > 0);
  for (const { path, version, models } of named) {
    const vendor = vendorOf(version.provider) ?? preselectedModel(models);
    const key = vendor.toLowerCase().split(/[\s,.]/)[0] ?? "";
    if (!vendors.has(key)) addTo(vendors, key, vendor);
    addTo(vendors, key, path);
  }
  if (vendors.size < 2) return [];
  const parts = [...vendors.values()].slice(0, maxListed).map(([vendor = "", ...paths]) => {
    const names = paths.slice(0, maxListed).map(cut);
    const rest = paths.length > names.length ? ` and ${paths.length - names.length} more` : "";
    return `${cut(vendor)} (${names.join(", ")}${rest})`;
  });
  const rest = vendors.size > parts.length ? ` and ${vendors.size - parts.length} more` : "";
  return [
    `This ZIP contains printer drivers of several vendors: ${parts.join(", ")}${rest}. Choose the right INF. Packages contain the files of all vendors. For smaller packages, zip and upload only one vendor’s folder.`,
  ];
}

const effectClauses: readonly (readonly [kind: keyof SideEffects, clause: string])[] = [
  ["services", "installs services"],
  ["programs", "runs or installs other programs"],
  ["keys", "changes registry keys that make Windows start or trust programs"],
  ["folders", "copies files outside the driver folders"],
  ["files", "deletes, renames or changes files"],
];

/** A sentence for each INF with side effects that is a printer's or that a printer's INF copies. */
function sideEffectWarnings(readings: readonly InfReading[]): string[] {
  const printers = readings.filter(({ version }) => version.isPrinter);
  const copied = new Set(printers.flatMap(({ files }) => files.copyInf.map(fileName)));
  const concerned = readings.filter(({ path, version }) => version.isPrinter || copied.has(fileName(path)));
  return concerned.flatMap(({ path, files }) => {
    const clauses = effectClauses.flatMap(([kind, clause]) => {
      const names = files.sideEffects[kind];
      return names.length === 0 ? [] : [`${clause} (${firstNames(names)})`];
    });
    return clauses.length === 0
      ? []
      : [`“${cut(path)}” does more than a printer driver requires: it ${clauses.join("; it ")}.`];
  });
}

/** The first names. How many there are is unknown, because reading stops after a few of each kind. */
function firstNames(names: readonly string[]): string {
  const rest = names.length > maxListed ? " and others" : "";
  return names.slice(0, maxListed).map(cut).join(", ") + rest;
}

function fileName(path: string): string {
  return fileNameOf(path.replaceAll("\\", "/")).trim().toLowerCase();
}

/** Keeps the end of a long name and makes its invisible characters visible. */
function cut(text: string): string {
  const seen = escapeInvisible(text.slice(-maxCharacters));
  return text.length <= maxCharacters && seen.length <= maxCharacters
    ? seen
    : `…${seen.slice(1 - maxCharacters)}`;
}
