import { ippDriverId } from "../drivers/windows-drivers.ts";
import type { FormInput } from "../fields.ts";
import type { Printer } from "./printer.ts";
import { deviceFields, ippPort, printerFormValues } from "./printer-fields.ts";

/** The form for a new printer with the settings of another one, which `like` names. */
export function copyOf(printer: Printer): FormInput {
  const empty = Object.fromEntries(deviceFields.map((name) => [name, ""]));
  return { ...printerFormValues(printer), ...empty, like: printer.name };
}

const suffix = " (IPP)";
const maxNameBefore = 200;

/** The form for an IPP queue with Windows' own driver in place of a printer, without what belongs to a vendor's driver. */
export function twinOf(printer: Printer): FormInput {
  return {
    ...printerFormValues(printer),
    name: `${printer.name.slice(0, maxNameBefore)}${suffix}`,
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
    twin: printer.name,
  };
}
