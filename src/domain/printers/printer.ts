import { type Driver, deployProblem } from "../drivers/driver.ts";
import type {
  collateModes,
  colorModes,
  duplexModes,
  paperSizes,
  protocols,
  ValueOf,
} from "./setting-values.ts";

/** The fields of a printer's form, by their form names. */
export interface PrinterSettings {
  /** The queue's name on Windows. */
  readonly name: string;
  readonly client_id: number | null;
  readonly driver_id: number | null;
  /** One of the models in the driver's INF; empty: the driver's own `driver_desc`. */
  readonly driver_desc: string;
  /** IPv4, IPv6 or host name. If it and `port_name` are empty, only the driver is deployed. */
  readonly address: string;
  readonly port_name: string;
  readonly protocol: ValueOf<typeof protocols>;
  readonly port_number: number;
  /** The path of the printer's IPP URL; begins with `/`. */
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
   * What is removed after a successful installation: a queue by its name, a connection as `\\server\queue`, or, as
   * `address:10.1.2.3`, every other queue on a TCP/IP port with that address.
   */
  readonly replaces: readonly string[];
  /** The driver for ARM64 machines; null if they install the same driver. */
  readonly arm64_driver_id: number | null;
  /** The same as `driver_desc` for that driver. */
  readonly arm64_driver_desc: string;
  /** A PrintTicket (XML), for preferences that have no field here. */
  readonly print_ticket: string;
  /** Reset the users' own preferences for the queue, once per revision. */
  readonly reset_user_preferences: boolean;
  /** In CIDR notation: only machines in these subnets get the printer. Empty: the client's subnets apply. */
  readonly subnets: readonly string[];
  /** Intune offers it only to machines that have the queue or reach the printer. */
  readonly requires_reachable: boolean;
  /** Who may use the queue, in SDDL. Empty: as Windows decides. */
  readonly permission_sddl: string;
  readonly keep_printed: boolean;
  /** Hold documents whose settings do not match the device. */
  readonly hold_mismatched: boolean;
}

export interface Printer extends PrinterSettings {
  readonly id: number;
  /** UTC, milliseconds since 1970. */
  readonly created_at: number;
  /** UTC, milliseconds since 1970. */
  readonly updated_at: number;
  /** Digest of the vendor preferences; empty if there are none. */
  readonly preferences_sha256: string;
}

/** Windows' rule for the names of local queues. */
export const queueNameRule = {
  /** In UTF-16 code units. */
  maxLength: 220,
  forbidden: "\\,!",
} as const;

/** Windows' rule for the names of shares. */
export const shareNameRule = {
  /** In UTF-16 code units. */
  maxLength: 80,
  forbidden: '\\/:,"<>|*?',
} as const;

export function isQueueName(text: string): boolean {
  const { forbidden, maxLength } = queueNameRule;
  return text.length <= maxLength && ![...forbidden].some((character) => text.includes(character));
}

/** Whether only the driver is deployed, without a queue. */
export function isDriverOnly(printer: Pick<PrinterSettings, "address" | "port_name">): boolean {
  return printer.address === "" && printer.port_name === "";
}

/** The share name of a shared queue; by default the queue's name with `-` for forbidden characters. */
export function shareNameOf(printer: Pick<PrinterSettings, "name" | "share_name">): string {
  if (printer.share_name !== "") return printer.share_name;
  const { forbidden, maxLength } = shareNameRule;
  const characters = Array.from(printer.name, (character) =>
    forbidden.includes(character) ? "-" : character,
  );
  return characters.join("").slice(0, maxLength);
}

/** The URL of an IPP printer. The path is not escaped: `parsePrinter` accepts only paths that need no escapes. */
export function ippUrlOf({
  address,
  port_number,
  ipp_path,
  ipp_tls,
}: Pick<PrinterSettings, "address" | "port_number" | "ipp_path" | "ipp_tls">): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return `${ipp_tls ? "https" : "http"}://${host}:${port_number}${ipp_path}`;
}

/** The model that is installed: the printer's, else the driver's; empty if neither has one. */
export function effectiveDescription(
  printer: Pick<PrinterSettings, "driver_desc">,
  driver: Pick<Driver, "driver_desc">,
): string {
  return printer.driver_desc || driver.driver_desc;
}

/** Why the printer cannot be deployed with its driver, with the remedy; undefined if it can. */
export function printerNeeds(
  printer: Pick<PrinterSettings, "driver_desc">,
  driver: Pick<Driver, "inf_path" | "driver_desc">,
): string | undefined {
  return deployProblem({ inf_path: driver.inf_path, driver_desc: effectiveDescription(printer, driver) });
}
