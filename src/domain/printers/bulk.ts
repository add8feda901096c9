import { UserError } from "../errors.ts";
import { cleanText, FieldReader, type FormInput } from "../fields.ts";

/** More printers than this are not changed at once. */
export const maxAtOnce = 5000;

/** What becomes of many printers at once. */
export type BulkChange =
  | { readonly action: "client"; readonly client_id: number | null }
  | {
      readonly action: "driver";
      readonly driver_id: number | null;
      /** Empty: each has the model of that name, and else the driver's own where somebody chose it. */
      readonly driver_desc: string;
      /** The model is for those alone that have none of that name. */
      readonly only_unmatched: boolean;
    }
  | { readonly action: "delete" };

/** What became of the models of printers that were given a driver. */
export interface ModelsGiven {
  /** Printers that deploy the model of that name as before. */
  readonly kept: number;
  /** Printers that deployed another one before. */
  readonly changed: number;
  /** Printers that leave it to the driver. */
  readonly own: number;
}

/** What became of many printers. */
export type BulkResult =
  /** The client or the driver that they have now. */
  | { readonly action: "client"; readonly count: number; readonly to: number | null }
  | ({ readonly action: "driver"; readonly count: number; readonly to: number | null } & ModelsGiven)
  /** The deletion while it can be taken back. */
  | { readonly action: "delete"; readonly count: number; readonly deletion: number | undefined };

/**
 * The printers that a form names, each once.
 * @param values one number each, or several with commas between them
 * @throws UserError "invalid" where there are none, too many, or one is no number
 */
export function parseIds(values: readonly string[]): number[] {
  const texts = values.flatMap((value) => value.split(",")).map((text) => text.trim());
  const ids = new Set<number>();
  for (const text of texts) {
    if (text === "") continue;
    if (!/^[1-9]\d{0,14}$/.test(text)) {
      throw new UserError(
        "invalid",
        `There is no printer “${cleanText(text.slice(0, 20))}”. Nothing was changed.`,
      );
    }
    ids.add(Number(text));
  }
  if (ids.size === 0) throw new UserError("invalid", "No printer is chosen: tick the rows to change.");
  if (ids.size <= maxAtOnce) return [...ids];
  const message = `${ids.size} printers are too many at once: at most ${maxAtOnce} are possible. Nothing was changed.`;
  throw new UserError("invalid", message);
}

/** @throws UserError "invalid" that says what is missing */
export function parseBulk(input: FormInput): BulkChange {
  const { action } = input;
  if (action === "delete") return { action };
  const fields = new FieldReader(input);
  if (action === "client") {
    if (input.client_id === undefined)
      fields.refuse("client_id", "Choose the client to move the printers to.");
    const client_id = fields.reference("client_id", "Client");
    fields.check();
    return { action, client_id };
  }
  if (action === "driver") {
    if (input.driver_id === undefined)
      fields.refuse("driver_id", "Choose the driver that the printers are to use.");
    const driver_id = fields.reference("driver_id", "Driver");
    const driver_desc = fields.text("driver_desc", { label: "The model", maxLength: 500 });
    const only_unmatched = fields.checkbox("only_unmatched");
    fields.check();
    return { action, driver_id, driver_desc, only_unmatched };
  }
  const message =
    "Nothing was changed: say whether to change the client (client) or the driver (driver), or to delete (delete).";
  throw new UserError("invalid", message);
}
