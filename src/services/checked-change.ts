import type { Store } from "../store/store.ts";

/**
 * Reads, checks and changes records in one transaction.
 * @param work receives a function that ends the transaction without a write and makes its argument the result
 * @throws what `work` throws
 */
export async function checkedChange<T>(
  store: Pick<Store, "change">,
  work: (stopWith: (value: T) => never) => T,
): Promise<T> {
  const stopped = new Error("nothing is to be written");
  let result: { readonly value: T } | undefined;
  const stopWith = (value: T): never => {
    result = { value };
    throw stopped;
  };
  try {
    return await store.change(() => work(stopWith));
  } catch (error) {
    if (error !== stopped || result === undefined) throw error;
    return result.value;
  }
}
