import type { PackageFormat } from "./format.ts";
import { intune } from "./intune.ts";
import { rmm } from "./rmm.ts";

/** Every package format, in the order in which pages show them. A new format needs a file like `rmm.ts` and a line here. */
export const packageFormats: readonly PackageFormat[] = [intune, rmm];
