import { vendorOf } from "../domain/driver.ts";
import { addTo } from "../domain/groups.ts";
import { firstModel } from "../domain/models.ts";
import type { InfReading } from "../inf/package.ts";
import { shownName as cut, sideEffectWarnings } from "./vendor-warnings.ts";

/** Names and paths in one sentence. */
const shown = 4;

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
  const parts = [...vendors.values()].slice(0, shown).map(([vendor = "", ...paths]) => {
    const names = paths.slice(0, shown).map(cut);
    const rest = paths.length > names.length ? ` and ${paths.length - names.length} more` : "";
    return `${cut(vendor)} (${names.join(", ")}${rest})`;
  });
  const rest = vendors.size > parts.length ? ` and ${vendors.size - parts.length} more` : "";
  return [
    `This ZIP holds printer drivers of several vendors: ${parts.join(", ")}${rest}. Choose the INF that is meant; packages carry the files of all. Smaller: upload each vendor’s folder as a ZIP of its own.`,
  ];
}
