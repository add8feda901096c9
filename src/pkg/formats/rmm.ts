import type { PackageFormat } from "./format.ts";
import { plainZip, zipContentType } from "./plain-zip.ts";

/** A ZIP for remote-monitoring tools: the driver below `driver/`, the scripts at its root. */
export const rmm: PackageFormat = {
  id: "rmm",
  target: "RMM",
  label: "RMM (ZIP)",
  fileType: "ZIP",
  contentType: zipContentType,
  extension: ".zip",
  isResumable: true,
  isEncrypted: false,
  hasIcon: false,
  guide:
    "Attach this ZIP to a script or component, unpack it, and run the install command as SYSTEM. Detection prints one line and returns 0 or 1.",
  fields: () => [],
  build: async (contents, context) => plainZip("rmm", await context.layOut(contents), context),
};
