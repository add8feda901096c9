import { UserError } from "../domain/errors.ts";
import type { Store } from "../store/store.ts";
import { inSteps } from "./steps.ts";

/** So often it is begun anew, because something was changed meanwhile. */
const attempts = 10;

/** What was read while nothing was written, and the store's version then. */
interface Moment<T> {
  readonly value: T;
  readonly version: number;
}

/**
 * Reads records in steps, between which others have their turn; anew where anything was written meanwhile.
 * @throws UserError "busy", or what a step throws
 */
export async function atOneMoment<T>(store: Store, read: () => Iterator<undefined, T>): Promise<Moment<T>> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const version = store.version();
    const value = await inSteps(read());
    if (store.version() === version) return { value, version };
  }
  throw busy();
}

/**
 * Plans a change in steps and writes it: all of it is planned anew where anything was written before it.
 * @param write throws UserError "conflict" where the store has another version than the plan's
 * @throws UserError "busy", or what planning or writing throws
 */
export async function planAndWrite<T>(
  store: Store,
  plan: () => Iterator<undefined, T>,
  write: (version: number, plan: T) => Promise<void>,
): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { value, version } = await atOneMoment(store, plan);
    try {
      await write(version, value);
      return value;
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== "conflict") throw error;
    }
  }
  throw busy();
}

/** Says that others keep changing what is read. */
export function busy(): UserError {
  return new UserError(
    "busy",
    "Others change records all the time at the moment. Try again in a few seconds.",
  );
}
