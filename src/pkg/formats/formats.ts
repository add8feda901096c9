import type { PackageFormat } from "./format.ts";
import { mdm } from "./mdm.ts";
import { rmm } from "./rmm.ts";

/** Every package format, in the order of pages. A new format needs a file like `rmm.ts` and a line here. */
export const packageFormats: readonly PackageFormat[] = [mdm, rmm];
