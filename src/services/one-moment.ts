import type { Store } from "../store/store.ts";

/** So often it is planned before the write; then within it, where nobody else writes. */
const attempts = 3;

/** What a plan does within a write; undefined where it does nothing. */
type Change = (() => Generator<undefined, void>) | undefined;

/**
 * Plans a change in steps and writes it as it was planned: where anything was written meanwhile, all of it is planned
 * anew. However often others write, it comes to an end.
 * @param beforeWrite asked right before each write
 * @throws what planning, writing or `beforeWrite` throws
 */
export async function planAndWrite<T>(
  store: Pick<Store, "atOneMoment" | "change" | "version">,
  plan: () => Generator<undefined, T>,
  changeOf: (plan: T) => Change,
  beforeWrite?: () => Promise<void>,
): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { value, version } = await store.atOneMoment(plan);
    const change = changeOf(value);
    if (change === undefined) return value;
    await beforeWrite?.();
    if (await changeUnlessOther(store, version, change)) return value;
  }
  await beforeWrite?.();
  return store.change(function* () {
    const value = yield* plan();
    yield* changeOf(value)?.() ?? [];
    return value;
  });
}

/** Something was written since a change was planned. */
class OtherMoment extends Error {}

/** @returns false, and changes nothing, where the records are others than they were */
async function changeUnlessOther(
  store: Pick<Store, "change" | "version">,
  version: number,
  change: NonNullable<Change>,
): Promise<boolean> {
  try {
    await store.change(function* () {
      if (store.version() !== version) throw new OtherMoment();
      yield* change();
    });
    return true;
  } catch (error) {
    if (error instanceof OtherMoment) return false;
    throw error;
  }
}
