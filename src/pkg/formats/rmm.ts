import type { Snippet, ToolGuide } from "../../domain/deploy/package-format.ts";
import {
  curlCommand,
  downloadAndRunScript,
  exitZeroOrOne,
  onlyHere,
  unpackAndInstallScript,
} from "../scripts/commands.ts";
import type { LaidOutFile } from "./contents.ts";
import type { PackageContext, PackageFacts, PackageFile, PackageFormat } from "./format.ts";

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

const attachedLabel = "Script, with the ZIP attached";
const unattachedLabel = "Script, without an attachment";

/** Scripts that any RMM can run, with the ZIP attached or without it. */
function rmmSnippets(facts: PackageFacts): Snippet[] {
  const { fileName, urls } = facts;
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
      text: downloadAndRunScript(urls.install, parameters),
      hint: "Run as SYSTEM in PowerShell. The PC must reach Platen.",
    },
    { label: "URL of the ZIP", text: urls.package },
    { label: "Download with curl", text: curlCommand(urls.package), hint: "In PowerShell: curl.exe." },
  ];
}

/** Printers with subnets need the parameter, because an RMM also runs the script on machines outside them. */
function parametersOf({ subnets }: PackageFacts): typeof onlyHere | undefined {
  return subnets && onlyHere;
}

function rmmTools(facts: PackageFacts): ToolGuide[] {
  const { fileName, detectionFileName, urls } = facts;
  const parameters = parametersOf(facts);
  const elsewise = urls === undefined ? "" : ` If it cannot attach files, use “${unattachedLabel}”.`;
  const attach = `Run “${attachedLabel}” in PowerShell, as SYSTEM, with ${fileName} attached.${elsewise}`;
  const codes = "0 is success; 3010 and 1641 ask for a restart; 1618 means busy, try again; 1603 failed.";
  const detects = `${detectionFileName} prints one line, “Installed: …” or “Not installed: …”, and returns 0 or 1.`;
  const elsewhere = ` With ${parameters} it says “Skipped: …” on PCs outside the subnets, and returns 0.`;
  const detect = detects + (parameters ? elsewhere : "");
  return [
    {
      tool: "NinjaOne",
      steps: [
        attach,
        `Exit code: ${codes}`,
        `To monitor, add a script result condition for ${detectionFileName}. Search its output for “Not installed:” (case-sensitive).`,
      ],
    },
    {
      tool: "Datto RMM",
      steps: [
        `Create a component and attach ${fileName}. Datto stops it after 30 minutes.`,
        `Paste “${attachedLabel}”; exit codes 0, 3010 and 1641 are success.`,
        `Datto monitors cannot attach files and stop after 3 seconds. Run ${detectionFileName} as a component.`,
      ],
    },
    {
      tool: "N-able",
      steps: [
        attach,
        `Exit code: ${codes}`,
        `As a script check: ${detect}${parameters ? "" : " It takes no parameters."}`,
      ],
    },
    {
      tool: "Level",
      steps: [
        "Raise the time limit: 100 seconds by default are too few for a large driver.",
        "Level treats only exit code 1 as failure. Use this script:",
      ],
      snippet: {
        label: "Script for Level, with the ZIP attached",
        text: unpackAndInstallScript(fileName, { parameters, exit: exitZeroOrOne }),
      },
    },
    {
      tool: "Tactical RMM",
      steps: [
        attach,
        "Leave arguments and environment variables empty.",
        `Return codes: ${codes}`,
        `As a check: ${detect}`,
      ],
    },
    { tool: "Action1", steps: [attach, `Exit code: ${codes}`, detect] },
  ];
}
