import { FieldReader, type FormInput } from "../fields.ts";
import { readSubnets } from "../subnet.ts";
import type { Icon } from "./icon.ts";

/** The fields of a client's form. */
export interface ClientSettings {
  readonly name: string;
  readonly notes: string;
  /** In CIDR notation: only machines in these get the client's printers, unless a printer has its own. Empty: all. */
  readonly subnets: readonly string[];
  /** The client's tenant in Microsoft Entra, as a GUID or domain in lower case. Empty if unknown. */
  readonly tenant_id: string;
  /** A template for the names of its apps in Intune, with `{printer}` and `{client}`. Empty: the usual names. */
  readonly app_name: string;
  readonly app_owner: string;
  /** Text in the notes of its apps, above the marker. */
  readonly app_notes: string;
}

export interface Client extends ClientSettings {
  readonly id: number;
  /** For apps whose printer has none. */
  readonly icon: Pick<Icon, "sha256" | "size"> | undefined;
  /** UTC, milliseconds since 1970. */
  readonly created_at: number;
}

/** @throws UserError "invalid" with a message for each field. */
export function parseClient(input: FormInput): ClientSettings {
  const fields = new FieldReader(input);
  const client = {
    name: fields.text("name", { label: "The client’s name", required: true, maxLength: 120 }),
    notes: fields.text("notes", { label: "Notes", maxLength: 10_000, multiline: true }),
    subnets: readSubnets(fields, "subnets"),
    tenant_id: readTenant(fields),
    app_name: readAppName(fields),
    app_owner: fields.text("app_owner", { label: "The owner of the apps", maxLength: 200 }),
    app_notes: readAppNotes(fields),
  };
  fields.check();
  return client;
}

const guid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const domain = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

function readTenant(fields: FieldReader): string {
  const tenant = fields.text("tenant_id", { label: "The tenant", maxLength: 253 }).toLowerCase();
  if (tenant === "" || guid.test(tenant) || domain.test(tenant)) return tenant;
  const example = "contoso.onmicrosoft.com";
  fields.refuse("tenant_id", `“${tenant}” is not a tenant. Enter its id or a domain, such as ${example}.`);
  return "";
}

function readAppName(fields: FieldReader): string {
  const template = fields.text("app_name", { label: "The template for names", maxLength: 200 });
  const unknown = /\{(?!printer\}|client\})[^{}]*\}?/.exec(template)?.[0];
  if (unknown !== undefined)
    fields.refuse("app_name", `“${unknown}” is unknown. Use {printer} and {client}.`);
  if (template !== "" && !template.includes("{printer}"))
    fields.refuse("app_name", "The name needs {printer}, because each printer is an app.");
  return template;
}

/** Notes with a marker of their own would be read as an app's marker. */
function readAppNotes(fields: FieldReader): string {
  const notes = fields.text("app_notes", {
    label: "The notes of the apps",
    maxLength: 2000,
    multiline: true,
  });
  if (/platen(?:-lease)?:/i.test(notes))
    fields.refuse("app_notes", "The notes cannot contain “platen:”. Markers begin with it.");
  return notes;
}

/** The name of a printer's app from the client's template. */
export function appNameFrom(template: string, printer: string, client: string): string {
  return template.replace(/\{(printer|client)\}/g, (_, name) => (name === "printer" ? printer : client));
}

/** Settings as their form shows them. */
export function clientFormValues({ subnets, ...texts }: ClientSettings): FormInput {
  const { name, notes, tenant_id, app_name, app_owner, app_notes } = texts;
  return { name, notes, subnets: subnets.join("\n"), tenant_id, app_name, app_owner, app_notes };
}
