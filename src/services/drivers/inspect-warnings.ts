import { addTo } from "../../domain/collections.ts";
import { fileOf, vendorOf } from "../../domain/drivers/driver.ts";
import { firstModel } from "../../domain/drivers/models.ts";
import { withUnseenShown } from "../../domain/text.ts";
import type { InfReading } from "../../inf/package.ts";
import type { SideEffects } from "../../inf/side-effects.ts";

/** Of a name or path in a warning. */
const maxCharacters = 120;
/** Sentences of one kind, and names in one sentence. */
const visible = 4;

/** What an operator should know of an archive's INFs together, a sentence each. */
export function infWarnings(readings: readonly InfReading[]): string[] {
  const printers = readings.filter(({ version }) => version.isPrinter);
  if (printers.length === 0) return noPrinter(readings);
  return [...severalVendors(printers), ...sideEffectWarnings(readings)];
}

/** Device classes as people call them, in lower case. */
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

/** Which device an archive is for that has no printer's INF; INFs without a class are no drivers'. */
function noPrinter(readings: readonly InfReading[]): string[] {
  const drivers = readings.filter(({ version }) => version.class !== null);
  const [first] = drivers;
  if (first === undefined) {
    return [
      "No INF of this ZIP is a driver’s: none names a device class. Look for a folder with the printer’s INF, and upload that.",
    ];
  }
  const name = first.version.class ?? "";
  const known = classNames.get(name.toLowerCase());
  const what = known === undefined ? `devices of the class ${cut(name)}` : `${known} (class ${cut(name)})`;
  const provider = vendorOf(first.version.provider);
  const of = provider === undefined ? "" : ` of ${cut(provider)}`;
  const rest = drivers.length > 1 ? ` and ${drivers.length - 1} more` : "";
  return [
    `This is a driver for ${what}${of}, not for printers: INF ${cut(first.path)}${rest}. Upload the printer’s driver instead.`,
  ];
}

/** Printers of several vendors in one archive: packages of one carry the files of all. */
function severalVendors(printers: readonly InfReading[]): string[] {
  const vendors = new Map<string, string[]>();
  const named = printers.filter(({ models }) => models.descriptions.length > 0);
  for (const { path, version, models } of named) {
    const vendor = vendorOf(version.provider) ?? firstModel(models);
    const key = vendor.toLowerCase().split(/[\s,.]/)[0] ?? "";
    if (!vendors.has(key)) addTo(vendors, key, vendor);
    addTo(vendors, key, path);
  }
  if (vendors.size < 2) return [];
  const parts = [...vendors.values()].slice(0, visible).map(([vendor = "", ...paths]) => {
    const names = paths.slice(0, visible).map(cut);
    const rest = paths.length > names.length ? ` and ${paths.length - names.length} more` : "";
    return `${cut(vendor)} (${names.join(", ")}${rest})`;
  });
  const rest = vendors.size > parts.length ? ` and ${vendors.size - parts.length} more` : "";
  return [
    `This ZIP holds printer drivers of several vendors: ${parts.join(", ")}${rest}. Choose the INF that is meant; packages carry the files of all. Smaller: upload each vendor’s folder as a ZIP of its own.`,
  ];
}

const deeds: readonly (readonly [kind: keyof SideEffects, clause: string])[] = [
  ["services", "installs services"],
  ["programs", "runs or brings other programs"],
  ["keys", "changes registry keys by which Windows starts programs or decides whom it trusts"],
  ["folders", "copies files to other places than drivers’"],
  ["files", "deletes, renames or changes files"],
];

/** Printers' INFs, and those that they bring along, that do more than to bring a driver; a sentence each. */
function sideEffectWarnings(readings: readonly InfReading[]): string[] {
  const printers = readings.filter(({ version }) => version.isPrinter);
  const copied = new Set(printers.flatMap(({ files }) => files.copyInf.map((name) => fileName(name))));
  const concerned = readings.filter(({ path, version }) => version.isPrinter || copied.has(fileName(path)));
  const found = concerned.flatMap(({ path, files }) => {
    const clauses = deeds.flatMap(([kind, clause]) => {
      const names = files.sideEffects[kind];
      return names.length === 0 ? [] : [`${clause} (${someOf(names)})`];
    });
    return clauses.length === 0
      ? []
      : [`“${cut(path)}” does more than a printer’s driver needs: it ${clauses.join("; it ")}.`];
  });
  const rest =
    found.length > visible ? [`${found.length - visible} more INFs of this ZIP do such things.`] : [];
  return [...found.slice(0, visible), ...rest];
}

/** There are more than are named: INFs are not read for all. */
function someOf(names: readonly string[]): string {
  const rest = names.length > visible ? " and others" : "";
  return names.slice(0, visible).map(cut).join(", ") + rest;
}

function fileName(path: string): string {
  return fileOf(path.replaceAll("\\", "/")).trim().toLowerCase();
}

/** The end of a long name, every character of it to be seen. */
function cut(text: string): string {
  const seen = withUnseenShown(text.slice(-maxCharacters));
  return text.length <= maxCharacters && seen.length <= maxCharacters
    ? seen
    : `…${seen.slice(1 - maxCharacters)}`;
}
