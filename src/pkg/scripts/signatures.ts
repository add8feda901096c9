import { createHash } from "node:crypto";
import type { ScriptSettings } from "./deployment.ts";
import { renderWithSettings, type ScriptKind } from "./render.ts";

/** The scripts in packages, and those of the rules in Intune. */
export const signedKinds = [
  "install",
  "uninstall",
  "detect",
  "requirement",
] as const satisfies readonly ScriptKind[];
export type SignedKind = (typeof signedKinds)[number];

/** Signature blocks by kind of script. A block follows the script's last byte. */
export type Signatures = Readonly<Partial<Record<SignedKind, string>>>;

/** SHA-256 in hex of a deployment's scripts without signatures. Blocks for some milliseconds: call it in a worker thread. */
export function scriptDigests(settings: ScriptSettings): Record<SignedKind, string> {
  const digests = signedKinds.map((kind) => {
    const bytes = renderWithSettings(kind, settings);
    return [kind, createHash("sha256").update(bytes).digest("hex")] as const;
  });
  return Object.fromEntries(digests) as Record<SignedKind, string>;
}
