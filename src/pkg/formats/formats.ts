import type { PackageFormat } from "./format.ts";
import { mdm } from "./mdm.ts";
import { rmm } from "./rmm.ts";

/** Every kind of package, in the order of pages. Adding one is a file like `rmm.ts` and a line here. */
export const packageFormats: readonly PackageFormat[] = [mdm, rmm];
