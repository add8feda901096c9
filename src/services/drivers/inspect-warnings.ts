import { addTo } from "../../domain/collections.ts";
import { fileNameOf, vendorOf } from "../../domain/drivers/driver.ts";
import { preselectedModel } from "../../domain/drivers/models.ts";
import { escapeInvisible } from "../../domain/text.ts";
import type { InfReading } from "../../inf/package.ts";
import type { SideEffects } from "../../inf/side-effects.ts";
import type { Inspection } from "./inspect.ts";

/** The maximum length of a name or path in a warning. */
const maxCharacters = 120;
/** The maximum number of sentences about side effects, and of names in a sentence. */
const maxListed = 4;

/** Sentences for the operator about an archive's INFs. */
export function infWarnings({ readings, packed }: Pick<Inspection, "readings" | "packed">): string[] {
  const printers = readings.filter(({ version }) => version.isPrinter);
  if (printers.length === 0) return [noPrinterWarning(readings, packed)];
  return [...severalVendors(printers), ...sideEffectWarnings(readings)];
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
  const found = concerned.flatMap(({ path, files }) => {
    const clauses = effectClauses.flatMap(([kind, clause]) => {
      const names = files.sideEffects[kind];
      return names.length === 0 ? [] : [`${clause} (${firstNames(names)})`];
    });
    return clauses.length === 0
      ? []
      : [`“${cut(path)}” does more than a printer driver requires: it ${clauses.join("; it ")}.`];
  });
  const rest =
    found.length > maxListed ? [`${found.length - maxListed} more INFs of this ZIP do this too.`] : [];
  return [...found.slice(0, maxListed), ...rest];
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
