import { derivePortName } from "../address.ts";
import type { DriverSummary } from "../drivers/driver.ts";
import { ippDriverId, isWindowsDriver } from "../drivers/windows-drivers.ts";
import type { FormInput } from "../fields.ts";
import { isDriverOnly, type Printer } from "./printer.ts";
import type { PrinterDrivers } from "./printer-drivers.ts";
import { ippPort, printerDefaults, printerFormValues } from "./printer-fields.ts";

// A twin is an IPP queue with Windows' own driver, in place of a queue with a vendor's driver.

/** A printer with these fields and its drivers. */
interface PrinterRow<Field extends keyof Printer> extends PrinterDrivers<DriverSummary | undefined> {
  readonly printer: Pick<Printer, Field>;
}

/** Whether a printer has a queue with a vendor's driver, which Windows protected print mode removes. */
export function needsVendorDriver({
  printer,
  driver,
  arm64Driver,
}: PrinterRow<"address" | "port_name">): boolean {
  const isVendors = (used: DriverSummary | undefined) => used !== undefined && !isWindowsDriver(used);
  return !isDriverOnly(printer) && (isVendors(driver) || isVendors(arm64Driver));
}

/** Why a printer cannot have a twin, with the remedy; undefined if it can. */
export function twinProblem(
  row: PrinterRow<"name" | "address" | "port_name" | "protocol">,
): string | undefined {
  const { name, address, protocol } = row.printer;
  if (protocol === "ipp") return `“${name}” prints over IPP already.`;
  if (isDriverOnly(row.printer)) return `“${name}” installs only a driver, so there is no queue to replace.`;
  if (!needsVendorDriver(row)) return `“${name}” has no vendor’s driver, so it needs no IPP twin.`;
  return address === "" ? `“${name}” has no address. Enter it first: IPP needs it.` : undefined;
}

const maxNameBefore = 200;

/**
 * The form for the twin of a printer, without what belongs to the vendor's driver or to the TCP/IP port.
 * @param names of the client's printers, among which the proposed name is unique
 */
export function twinOf(printer: Printer, names: readonly string[]): FormInput {
  const { ipp_path, ipp_tls, lpr_queue, snmp, snmp_community, snmp_index } = printerDefaults;
  return {
    ...printerFormValues({ ...printer, ipp_path, ipp_tls, lpr_queue, snmp, snmp_community, snmp_index }),
    name: twinName(printer.name, names),
    driver_id: String(ippDriverId),
    driver_desc: "",
    arm64_driver_id: "",
    arm64_driver_desc: "",
    port_name: "",
    protocol: "ipp",
    port_number: String(ippPort),
    print_ticket: "",
    keep_driver: "",
    replaces: [...printer.replaces, printer.name].join("\n"),
    twin: String(printer.id),
  };
}

function twinName(name: string, names: readonly string[]): string {
  const taken = new Set(names.map((one) => one.toLowerCase()));
  const proposed = (number: number) =>
    `${name.slice(0, maxNameBefore)} (IPP${number > 1 ? ` ${number}` : ""})`;
  let number = 1;
  while (taken.has(proposed(number).toLowerCase())) number++;
  return proposed(number);
}

/** The settings that a twin cannot have, in the form's order, each with whether a printer has it. */
const lostSettings = {
  driver_desc: ({ driver_desc }: Printer) => driver_desc !== "",
  port_name: ({ address, port_name }: Printer) => port_name !== derivePortName(address),
  port_number: ({ protocol, port_number }: Printer) =>
    protocol === "raw" && port_number !== printerDefaults.port_number,
  lpr_queue: ({ protocol }: Printer) => protocol === "lpr",
  snmp: ({ snmp }: Printer) => snmp,
  print_ticket: ({ print_ticket }: Printer) => print_ticket !== "",
  arm64_driver_id: ({ arm64_driver_id }: Printer) => arm64_driver_id !== null,
  keep_driver: ({ keep_driver }: Printer) => keep_driver,
};

export type LostSetting = keyof typeof lostSettings;

/** The settings of a printer that its twin cannot have. */
export function lostInTwin(printer: Printer): LostSetting[] {
  return (Object.keys(lostSettings) as LostSetting[]).filter((name) => lostSettings[name](printer));
}
