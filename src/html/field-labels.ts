import { isTicked } from "../domain/fields.ts";
import type { PrinterSettings } from "../domain/printers/printer.ts";
import { printerDefaults } from "../domain/printers/printer-fields.ts";
import { valueLabel } from "../domain/printers/setting-values.ts";

export const printerLabels = {
  name: "Name",
  client_id: "Client",
  driver_id: "Driver",
  driver_desc: "Model",
  address: "Address",
  port_name: "Port",
  protocol: "Protocol",
  port_number: "Port number",
  ipp_path: "IPP path",
  ipp_tls: "Encrypt with TLS (HTTPS)",
  lpr_queue: "LPR queue",
  snmp: "SNMP status enabled",
  snmp_community: "SNMP community",
  snmp_index: "SNMP index",
  location: "Location",
  comment: "Comment",
  set_default: "Default printer",
  shared: "Share this printer",
  share_name: "Share name",
  permission_sddl: "Queue permissions",
  keep_printed: "Keep printed documents",
  hold_mismatched: "Hold mismatched documents",
  duplex: "Two-sided printing",
  color: "Colour",
  collate: "Collate",
  paper_size: "Paper size",
  print_ticket: "PrintTicket",
  reset_user_preferences: "Reset user preferences",
  arm64_driver_id: "Driver for ARM64",
  arm64_driver_desc: "Model for ARM64",
  subnets: "Subnets",
  requires_reachable: "Only PCs that reach the printer",
  replaces: "Old queues to remove",
  keep_driver: "Keep the driver when uninstalling",
} as const satisfies Record<keyof PrinterSettings, string>;

export const driverLabels = {
  inf_path: "INF",
  driver_desc: "Model",
  name: "Name",
  comment: "Comment",
  trust_publisher: "Trust the publisher",
  drop_unused: "Leave out unused files",
  exact_version: "Install exactly this version",
};

export const clientLabels = {
  name: "Name",
  notes: "Notes",
  subnets: "Subnets",
  tenant_id: "Tenant",
  app_name: "Names of its apps",
  app_owner: "Owner of its apps",
  app_notes: "Notes of its apps",
  icon_sha256: "Icon of its apps",
};

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
  scope_id: "ID",
  expires_at: "Valid until",
};

/** The label of a record's field, or of a column of an imported list; undefined if it has none. */
export function labelOfField(name: string): string | undefined {
  return Object.hasOwn(knownLabels, name) ? knownLabels[name] : undefined;
}

/** A downloaded package or script in a few words. Other texts stay. */
export function downloadWord(what: string): string {
  if (what === "mdm") return "Intune";
  if (what === "rmm") return "RMM";
  return /^(?:install|uninstall|detect|diagnose|requirement|publish)$/.test(what) ? `${what}.ps1` : what;
}

const flags = new Set([
  ...Object.entries(printerDefaults).flatMap(([name, value]) => (typeof value === "boolean" ? name : [])),
  "trust_publisher",
  "drop_unused",
  "exact_version",
]);

const maxCharacters = 80;

/** The value of a form field in words, on one line, shortened. Empty for an empty field. */
export function settingText(name: string, value: string): string {
  if (flags.has(name)) return isTicked(value) ? "ticked" : "not ticked";
  if (name === "print_ticket" && value !== "") return "another ticket";
  const text = valueLabel(name, value).replaceAll("\n", ", ");
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
