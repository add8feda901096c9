import { cleanText } from "../fields.ts";

/** In characters. The rest of a longer text is not compared. */
const maxCompared = 120;
/** A name is near if it has at least this share of the typed pairs. */
const minShare = 0.4;
/** Each pair of characters has a slot. Two different pairs rarely have the same. */
const slotCount = 4096;

/**
 * The names that are most like a typed one, the nearest first. It compares pairs of neighbouring characters, which takes
 * one step for each character of each name.
 */
export function nearestModels(names: readonly string[], typed: string, max = 5): string[] {
  const slots = new Uint16Array(maxCompared);
  const total = readPairs(typed, slots);
  if (total === 0) return [];
  const typedPairs = new Uint8Array(slotCount);
  for (const slot of slots.subarray(0, total)) typedPairs[slot] = (typedPairs[slot] ?? 0) + 1;
  const unmatched = new Uint8Array(slotCount);
  const near: { readonly name: string; readonly score: number }[] = [];
  for (const name of names) {
    unmatched.set(typedPairs);
    const pairs = slots.subarray(0, readPairs(name, slots));
    const shared = countShared(pairs, unmatched);
    // The second term prefers the shortest of the names with the same share.
    const score = shared / total + shared / (total + pairs.length);
    if (shared >= minShare * total) near.push({ name, score });
  }
  near.sort((a, b) => b.score - a.score);
  return [...new Set(near.slice(0, 2 * max).map(({ name }) => cleanText(name)))].slice(0, max);
}

/** How many of the pairs are unmatched, each as often as it occurs. */
function countShared(pairs: Uint16Array, unmatched: Uint8Array): number {
  let shared = 0;
  for (let i = 0; i < pairs.length; i++) {
    const slot = pairs[i] ?? 0;
    const left = unmatched[slot] ?? 0;
    if (left > 0) {
      unmatched[slot] = left - 1;
      shared++;
    }
  }
  return shared;
}

const space = 32;

/**
 * Writes the slots of a text's pairs. A pair with a space marks the start or end of a word.
 * @returns how many there are
 */
function readPairs(text: string, slots: Uint16Array): number {
  const folded = `${text.toLowerCase().slice(0, maxCompared - 1)} `;
  let [before, count] = [space, 0];
  for (let i = 0; i < folded.length; i++) {
    const code = characterAt(folded, i);
    if (code !== space || before !== space) slots[count++] = (before * 67 + code) % slotCount;
    before = code;
  }
  return count;
}

/** The code of a letter or digit, and a space for anything else. Every character that is not ASCII counts as a letter. */
function characterAt(text: string, i: number): number {
  const code = text.charCodeAt(i);
  const isWord = (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code > 127;
  return isWord ? code : space;
}

/** The end of a message about a model that an INF lacks: the nearest names. Empty if none is near. */
export function nearestInWords(names: readonly string[], typed: string): string {
  const nearest = nearestModels(names, typed, 3).map((name) => `“${name}”`);
  return nearest.length === 0 ? "" : ` Similar models: ${nearest.join(", ")}.`;
}
