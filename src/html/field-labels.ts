import type { PrinterSettings } from "../domain/printers/printer.ts";

export { valueLabel } from "../domain/printers/setting-values.ts";

export const printerLabels = {
  name: "Name",
  client_id: "Client",
  driver_id: "Driver",
  driver_desc: "Model",
  address: "Address",
  port_name: "Port",
  protocol: "Protocol",
  port_number: "Port number",
  ipp_path: "Path",
  ipp_tls: "Encrypt with TLS (https)",
  lpr_queue: "LPR queue",
  snmp: "Check the printer’s status by SNMP",
  snmp_community: "SNMP community",
  snmp_index: "SNMP index",
  location: "Location",
  comment: "Comment",
  set_default: "Default printer",
  shared: "Share on the network",
  share_name: "Share name",
  duplex: "Two-sided printing",
  color: "Colour",
  collate: "Collate",
  paper_size: "Paper size",
  print_ticket: "PrintTicket",
  reset_user_preferences: "Reset users’ own preferences",
  arm64_driver_id: "Driver for ARM64",
  arm64_driver_desc: "Model for ARM64",
  subnets: "Subnets",
  replaces: "Replaces",
  keep_driver: "Keep the driver at uninstall",
} as const satisfies Record<keyof PrinterSettings, string>;

export const driverLabels = {
  inf_path: "INF",
  driver_desc: "Model",
  name: "Name",
  comment: "Comment",
  trust_publisher: "Trust the publisher",
  drop_unused: "Leave out unused files",
};

export const clientLabels = { name: "Name", notes: "Notes", subnets: "Subnets" };

const knownLabels: Readonly<Record<string, string>> = {
  ...printerLabels,
  ...driverLabels,
  ...clientLabels,
  client: printerLabels.client_id,
  driver: printerLabels.driver_id,
  arm64_driver: printerLabels.arm64_driver_id,
  file_name: "File",
  sha256: "SHA-256",
  model_chosen: "Model chosen",
  role: "Role",
  one_time: "One-time password",
  disabled: "Disabled",
  password_hash: "Password",
  scope: "Access to",
  scope_id: "Its number",
  expires_at: "Valid until",
};

/** The label of a record's field, or of a column of an imported list; undefined if it has none. */
export function labelOfField(name: string): string | undefined {
  return Object.hasOwn(knownLabels, name) ? knownLabels[name] : undefined;
}
