import type { Architecture } from "../domain/drivers/driver.ts";

const inOrder: readonly Architecture[] = ["x86", "amd64", "arm64", "arm", "ia64"];
const decorated = new Map(inOrder.map((architecture) => [`nt${architecture}`, architecture]));

/** The architecture that a decoration in lower case names; undefined for none and for a plain `nt`. */
export function architectureOf(decoration: string): Architecture | undefined {
  const dot = decoration.indexOf(".");
  return decorated.get(dot < 0 ? decoration : decoration.slice(0, dot));
}

export function sortArchitectures(found: Iterable<Architecture>): Architecture[] {
  const present = new Set(found);
  return inOrder.filter((architecture) => present.has(architecture));
}
