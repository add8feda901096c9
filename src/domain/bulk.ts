import { UserError } from "./errors.ts";
import { cleanText, FieldReader, type FormInput } from "./fields.ts";

/** More printers than this are not changed at once. */
const mostAtOnce = 5000;

/** What becomes of many printers at once. */
export type BulkChange =
  | { readonly action: "client"; readonly client_id: number | null }
  | {
      readonly action: "driver";
      readonly driver_id: number | null;
      /** The model of all; empty: each keeps its own where the driver has it, and else takes the driver's. */
      readonly driver_desc: string;
    }
  | { readonly action: "delete" };

/** How many of the printers that had a model of their own keep it, and how many now take the driver's. */
export interface ModelsKept {
  readonly kept: number;
  readonly reset: number;
}

/** What became of many printers. */
export interface BulkResult extends ModelsKept {
  readonly action: BulkChange["action"];
  readonly count: number;
  /** The client or the driver that they have now; of deleted ones, the deletion while it can be taken back. */
  readonly to: number | null;
}

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
  if (ids.size <= mostAtOnce) return [...ids];
  const message = `${ids.size} printers are too many at once: at most ${mostAtOnce} are possible. Nothing was changed.`;
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
    fields.check();
    return { action, driver_id, driver_desc };
  }
  const message =
    "Nothing was changed: say whether to change the client (client) or the driver (driver), or to delete (delete).";
  throw new UserError("invalid", message);
}
