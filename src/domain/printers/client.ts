import { FieldReader, type FormInput } from "../fields.ts";
import { readSubnets } from "../subnet.ts";

/** The fields of a client's form. */
export interface ClientSettings {
  readonly name: string;
  readonly notes: string;
  /** In CIDR notation: only machines in these get the client's printers, unless a printer has its own. Empty: all. */
  readonly subnets: readonly string[];
}

export interface Client extends ClientSettings {
  readonly id: number;
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
  };
  fields.check();
  return client;
}

/** Settings as their form shows them. */
export function clientFormValues({ name, notes, subnets }: ClientSettings): FormInput {
  return { name, notes, subnets: subnets.join("\n") };
}
