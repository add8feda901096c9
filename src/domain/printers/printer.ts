import { type Driver, driverNeeds } from "../drivers/driver.ts";
import type {
  collateModes,
  colorModes,
  duplexModes,
  paperSizes,
  protocols,
  ValueOf,
} from "./printer-choices.ts";

/** What an operator says of a printer: the form's fields, by the form's names. */
export interface PrinterSettings {
  /** The queue's name on Windows. */
  readonly name: string;
  readonly client_id: number | null;
  readonly driver_id: number | null;
  /** One of the driver's models; empty is the driver's own. */
  readonly driver_desc: string;
  /** IPv4, IPv6 or host name; empty together with `port_name` makes a driver-only deployment. */
  readonly address: string;
  readonly port_name: string;
  readonly protocol: ValueOf<typeof protocols>;
  readonly port_number: number;
  /** On the printer, where the protocol is IPP: begins with `/`. */
  readonly ipp_path: string;
  /** Whether IPP goes over TLS. */
  readonly ipp_tls: boolean;
  readonly lpr_queue: string;
  readonly snmp: boolean;
  readonly snmp_community: string;
  readonly snmp_index: number;
  readonly location: string;
  readonly comment: string;
  readonly set_default: boolean;
  readonly shared: boolean;
  readonly share_name: string;
  readonly duplex: ValueOf<typeof duplexModes>;
  readonly color: ValueOf<typeof colorModes>;
  readonly collate: ValueOf<typeof collateModes>;
  readonly paper_size: ValueOf<typeof paperSizes>;
  /** Leave the driver on the machine at uninstall. */
  readonly keep_driver: boolean;
  /**
   * What goes after success: a queue by its name, a connection as `\\\\server\\queue`, or as `address:10.1.2.3` every other
   * queue on a TCP/IP port to that address.
   */
  readonly replaces: readonly string[];
  /** The driver of ARM64 machines, where they have another one. */
  readonly arm64_driver_id: number | null;
  /** One of its models; empty is that driver's own. */
  readonly arm64_driver_desc: string;
  /** A PrintTicket in XML: preferences that no other field names. */
  readonly print_ticket: string;
  /** Whether what users set of the queue for themselves goes, once per revision. */
  readonly reset_user_preferences: boolean;
  /** Where machines must be to get the printer, as CIDR; empty: anywhere, or where its client says. */
  readonly subnets: readonly string[];
}

export interface Printer extends PrinterSettings {
  readonly id: number;
  /** UTC, milliseconds since 1970. */
  readonly created_at: number;
  /** UTC, milliseconds since 1970. */
  readonly updated_at: number;
}

/** What Windows takes as the name of a local queue. */
export const queueNameRule = {
  /** In UTF-16 code units. */
  maxLength: 220,
  forbidden: "\\,!",
} as const;

/** What Windows takes as the name of a share. */
export const shareNameRule = {
  /** In UTF-16 code units. */
  maxLength: 80,
  forbidden: '\\/:,"<>|*?',
} as const;

export function isQueueName(text: string): boolean {
  const { forbidden, maxLength } = queueNameRule;
  return text.length <= maxLength && ![...forbidden].some((character) => text.includes(character));
}

/** Whether the printer stands for its driver alone, without a queue. */
export function isDriverOnly(printer: Pick<PrinterSettings, "address" | "port_name">): boolean {
  return printer.address === "" && printer.port_name === "";
}

/** The name under which a shared queue is offered. */
export function shareNameOf(printer: Pick<PrinterSettings, "name" | "share_name">): string {
  if (printer.share_name !== "") return printer.share_name;
  const { forbidden, maxLength } = shareNameRule;
  const characters = Array.from(printer.name, (character) =>
    forbidden.includes(character) ? "-" : character,
  );
  return characters.join("").slice(0, maxLength);
}

/** Where an IPP printer is asked; its path as it is typed. */
export function ippUrlOf({
  address,
  port_number,
  ipp_path,
  ipp_tls,
}: Pick<PrinterSettings, "address" | "port_number" | "ipp_path" | "ipp_tls">): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return `${ipp_tls ? "https" : "http"}://${host}:${port_number}${ipp_path}`;
}

/** The model that is installed: the printer's own choice, else the driver's; empty where neither is chosen. */
export function effectiveDescription(
  printer: Pick<PrinterSettings, "driver_desc">,
  driver: Pick<Driver, "driver_desc">,
): string {
  return printer.driver_desc || driver.driver_desc;
}

/** Why the printer cannot be deployed with its driver yet, with the remedy; undefined when it can. */
export function printerNeeds(
  printer: Pick<PrinterSettings, "driver_desc">,
  driver: Pick<Driver, "inf_path" | "driver_desc">,
): string | undefined {
  return driverNeeds({ inf_path: driver.inf_path, driver_desc: effectiveDescription(printer, driver) });
}
