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
    parameters && ` ${parameters} skips machines outside the subnets: leave it out to install anywhere.`;
  const attached = {
    label: attachedLabel,
    text: unpackAndInstallScript(fileName, { parameters }),
    hint: `PowerShell, as SYSTEM, in the folder into which the tool puts the ZIP.${skips ?? ""}`,
  };
  if (urls === undefined) return [attached];
  return [
    attached,
    {
      label: unattachedLabel,
      text: downloadAndRunScript(urls.install, parameters),
      hint: "PowerShell, as SYSTEM, on machines that can reach this service. It downloads driver files only if the machine needs them and does not have them.",
    },
    { label: "Address of the ZIP", text: urls.package },
    { label: "Download it from a shell", text: curlCommand(urls.package), hint: "In PowerShell: curl.exe." },
  ];
}

/** Printers with subnets need the parameter, because an RMM also runs the script on machines outside them. */
function parametersOf({ subnets }: PackageFacts): typeof onlyHere | undefined {
  return subnets && onlyHere;
}

function rmmTools(facts: PackageFacts): ToolGuide[] {
  const { fileName, detectionFileName, urls } = facts;
  const parameters = parametersOf(facts);
  const elsewise = urls === undefined ? "" : ` Where it takes no files, use “${unattachedLabel}”.`;
  const attach = `Run “${attachedLabel}” in PowerShell, as SYSTEM, with ${fileName} attached.${elsewise}`;
  const codes = "0 is success; 3010 and 1641 ask for a restart; 1618 means busy, try again; 1603 failed.";
  const detects = `${detectionFileName} prints one line, “Installed: …” or “Not installed: …”, and returns 0 or 1.`;
  const elsewhere = ` With ${parameters} it says “Skipped: …” on machines outside the subnets, and returns 0.`;
  const detect = detects + (parameters ? elsewhere : "");
  return [
    {
      tool: "NinjaOne",
      steps: [
        attach,
        `Exit code: ${codes}`,
        `Watch it with a script result condition on ${detectionFileName}: it compares the output, case-sensitively, so look for “Not installed:”.`,
      ],
    },
    {
      tool: "Datto RMM",
      steps: [
        `Make a component with ${fileName} attached: it lies in the working folder, and the component has 30 minutes.`,
        `Paste “${attachedLabel}”; exit codes 0, 3010 and 1641 are success.`,
        `A monitor takes no attachment, has 3 seconds, and wants its result between <-Start Result-> and <-End Result->: run ${detectionFileName} as a component instead.`,
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
        "Level takes only exit code 1 for a failure, so the script ends with one:",
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
        "It takes no arguments and no environment variables.",
        `Return codes: ${codes}`,
        `As a check: ${detect}`,
      ],
    },
    { tool: "Action1", steps: [attach, `Exit code: ${codes}`, detect] },
  ];
}
