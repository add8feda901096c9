import type { KeptChange } from "../deletion.ts";
import { UserError } from "../errors.ts";
import { cleanText, FieldReader, type FormInput } from "../fields.ts";
import type { WorseCounts } from "./change-effects.ts";

export const maxBulkPrinters = 5000;

/** A change of many printers at once. */
export type BulkChange =
  | { readonly action: "client"; readonly client_id: number | null }
  | {
      readonly action: "driver";
      readonly driver_id: number | null;
      /** Empty: each printer keeps the name of its model if the driver has it, else it gets the driver's own model. */
      readonly driver_desc: string;
      /** Whether `driver_desc` applies only to printers whose model the driver does not have. */
      readonly only_unmatched: boolean;
    }
  | { readonly action: "delete" };

/** What the message after a bulk change of client or driver says. */
interface Changed {
  /** The number of printers. */
  readonly count: number;
  /** The new client or driver. */
  readonly to: number | null;
  readonly undo: KeptChange;
  readonly worse: WorseCounts;
}

/** The result of a bulk change. `count` is the number of printers. */
export type BulkResult =
  | ({ readonly action: "client" | "driver" } & Changed)
  /** `deletion` is undefined if the deletion is final. */
  | { readonly action: "delete"; readonly count: number; readonly deletion: number | undefined };

/**
 * The distinct printer ids of a form.
 * @param values each an id, or several separated by commas
 * @throws UserError "invalid" if there are no ids, too many, or a value that is no id
 */
export function parseIds(values: readonly string[]): number[] {
  const texts = values.flatMap((value) => value.split(",")).map((text) => text.trim());
  const ids = new Set<number>();
  for (const text of texts) {
    if (text === "") continue;
    if (!/^[1-9]\d{0,14}$/.test(text)) {
      throw new UserError(
        "invalid",
        `Printer “${cleanText(text.slice(0, 20))}” does not exist. Nothing was changed.`,
      );
    }
    ids.add(Number(text));
  }
  if (ids.size === 0) throw new UserError("invalid", "No printer is chosen. Choose at least one.");
  if (ids.size <= maxBulkPrinters) return [...ids];
  const message = `${ids.size} printers are too many at once. The limit is ${maxBulkPrinters}. Nothing was changed.`;
  throw new UserError("invalid", message);
}

/** @throws UserError "invalid", with a message for each wrong field */
export function parseBulk(input: FormInput): BulkChange {
  const { action } = input;
  if (action === "delete") return { action };
  const fields = new FieldReader(input);
  if (action === "client") {
    if (input.client_id === undefined) fields.refuse("client_id", "Choose a client.");
    const client_id = fields.reference("client_id", "Client");
    fields.check();
    return { action, client_id };
  }
  if (action === "driver") {
    if (input.driver_id === undefined) fields.refuse("driver_id", "Choose a driver.");
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
