import type { Snippet } from "../../domain/deploy/package-format.ts";
import { curlCommand, downloadAndRunScript, unpackAndInstallScript } from "../scripts/commands.ts";
import type { LaidOutFile } from "./contents.ts";
import type { PackageContext, PackageFacts, PackageFile, PackageFormat } from "./format.ts";
import { attachedLabel, parametersOf, rmmTools, unattachedLabel } from "./rmm-guides.ts";

export const zipContentType = "application/zip";

/** A ZIP for remote-monitoring tools: the driver in `driver/`, the scripts at the root. */
export const rmm: PackageFormat = {
  id: "rmm",
  target: "RMM",
  heading: "RMM and scripts",
  label: "RMM (ZIP)",
  fileType: "ZIP",
  contentType: zipContentType,
  extension: ".zip",
  hasIcon: false,
  guide: "A ZIP with scripts and driver. Run install.ps1 as SYSTEM.",
  fields: () => [],
  dependencyFields: () => [],
  snippets: rmmSnippets,
  tools: rmmTools,
  build: async (contents, context) => plainZip("rmm", await context.layOut(contents), context),
};

/** A ZIP that is sent as it is laid out. @param kind makes its ETag differ from other files with the same contents */
export function plainZip(kind: string, file: LaidOutFile, context: PackageContext): PackageFile {
  return {
    size: file.layout.size,
    etag: `${kind}-${Buffer.from(file.digest).toString("hex", 0, 16)}`,
    open: () => context.openPlain(file),
  };
}

/** Scripts that any RMM can run, with the ZIP attached or without it. */
function rmmSnippets(facts: PackageFacts): Snippet[] {
  const { fileName, urls, installSha256: sha256 } = facts;
  const parameters = parametersOf(facts);
  const skips =
    parameters && ` ${parameters} skips PCs outside the subnets. Leave it out to install everywhere.`;
  const attached = {
    label: attachedLabel,
    text: unpackAndInstallScript(fileName, { parameters }),
    hint: `Run as SYSTEM in PowerShell, in the folder of the ZIP.${skips ?? ""}`,
  };
  if (urls === undefined) return [attached];
  return [
    attached,
    {
      label: unattachedLabel,
      text: downloadAndRunScript(urls.install, { parameters, sha256 }),
      hint: "Run as SYSTEM in PowerShell. The PC must reach Platen.",
    },
    { label: "URL of the ZIP", text: urls.package },
    { label: "Download with curl", text: curlCommand(urls.package), hint: "In PowerShell: curl.exe." },
  ];
}
