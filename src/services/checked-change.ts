import type { Store } from "../store/store.ts";

/**
 * Reads, checks and changes records in one write, so that all three see the same state.
 * @param work is given a function that ends the change: nothing is written, and its value is the answer
 * @throws what `work` throws
 */
export async function checkedChange<T>(
  store: Pick<Store, "change">,
  work: (stopWith: (value: T) => never) => T,
): Promise<T> {
  const stopped = new Error("nothing is to be written");
  let answer: { readonly value: T } | undefined;
  const stopWith = (value: T): never => {
    answer = { value };
    throw stopped;
  };
  try {
    return await store.change(() => work(stopWith));
  } catch (error) {
    if (error !== stopped || answer === undefined) throw error;
    return answer.value;
  }
}
