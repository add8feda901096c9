import type { PackageFormat } from "./format.ts";
import { plainZip, zipContentType } from "./plain-zip.ts";
import { rmmSnippets, rmmTools } from "./rmm-guides.ts";

/** A ZIP for remote-monitoring tools: the driver below `driver/`, the scripts at its root. */
export const rmm: PackageFormat = {
  id: "rmm",
  target: "RMM",
  label: "RMM (ZIP)",
  fileType: "ZIP",
  contentType: zipContentType,
  extension: ".zip",
  hasIcon: false,
  guide:
    "A ZIP with the three scripts, and with the driver where Windows does not bring it. Run install.ps1 as SYSTEM, with either of these:",
  fields: () => [],
  apartFields: () => [],
  snippets: rmmSnippets,
  tools: rmmTools,
  build: async (contents, context) => plainZip("rmm", await context.layOut(contents), context),
};
