import type { Snippet, ToolGuide } from "../../domain/deploy/package-format.ts";
import {
  curlCommand,
  downloadAndRunScript,
  exitWithCodeInOutput,
  exitZeroOrOne,
  installCommand,
  onlyHere,
  uninstallCommand,
  unpackAndInstallScript,
} from "../scripts/commands.ts";
import { configMgr, nSight } from "../scripts/tool-scripts.ts";
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

const attachedLabel = "Script, with the ZIP attached";
const unattachedLabel = "Script, without an attachment";

/** Printers with subnets need the parameter, because an RMM also runs the script on machines outside them. */
function parametersOf({ subnets }: PackageFacts): typeof onlyHere | undefined {
  return subnets && onlyHere;
}

const codes = "0 is success; 3010 and 1641 ask for a restart; 1618 means busy, try again; 1603 failed.";

/** The texts that the guides of several tools contain. */
interface SharedTexts {
  readonly facts: PackageFacts;
  readonly parameters: ReturnType<typeof parametersOf>;
  /** How to install with the ZIP, or without it if the tool cannot attach files. */
  readonly attach: string;
  readonly detect: string;
}

/** The instructions for each tool. */
function rmmTools(facts: PackageFacts): ToolGuide[] {
  const { fileName, detectionFileName, urls } = facts;
  const parameters = parametersOf(facts);
  const elsewise = urls === undefined ? "" : ` If it cannot attach files, use “${unattachedLabel}”.`;
  const attach = `Run “${attachedLabel}” in PowerShell, as SYSTEM, with ${fileName} attached.${elsewise}`;
  const detects = `${detectionFileName} prints one line, “Installed: …” or “Not installed: …”, and returns 0 or 1.`;
  const elsewhere = ` With ${parameters} it says “Skipped: …” on PCs outside the subnets, and returns 0.`;
  const texts = { facts, parameters, attach, detect: detects + (parameters ? elsewhere : "") };
  return [...attachingTools(texts), ...nAbleTools(texts), ...outputTools(texts), ...packageTools(texts)];
}

/** Tools that can attach the ZIP to a script. */
function attachingTools({ facts, parameters, attach, detect }: SharedTexts): ToolGuide[] {
  const { fileName, detectionFileName } = facts;
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
    {
      tool: "Atera",
      steps: [
        "Add a PowerShell script to the script library. Run it as System.",
        "Raise its maximum run time for a large driver.",
        attach,
        `Exit code: ${codes}`,
        detect,
      ],
    },
    {
      tool: "Syncro",
      steps: [
        "Add a PowerShell script. Run it as System, and raise its maximum run time.",
        `Add ${fileName} as a required file, to a folder that only administrators can write.`,
        `Paste “${attachedLabel}” below a first line with Set-Location to that folder.`,
        `Exit code: ${codes}`,
        detect,
      ],
    },
  ];
}

function nAbleTools(texts: SharedTexts): ToolGuide[] {
  const { parameters } = texts;
  const argument = parameters ? ` Give it the argument ${parameters}.` : "";
  return [
    {
      tool: "N-able N-sight",
      steps: [
        `Upload install.ps1, from “Single scripts” below, as an automated task.${argument}`,
        "A PC without the driver must reach Platen.",
        "N-sight takes 65,535 characters a script. For a large client, deploy each printer alone.",
        `Exit code: ${codes} N-sight shows every code but 0 as failed, with the output.`,
        `Upload this detect.ps1 as a script check.${argument} It returns 1001 instead of 1, because N-sight reserves 1 to 999.`,
      ],
      variants: nSight,
    },
    {
      tool: "N-able N-central",
      steps: [
        "Add this script to the Script Repository as PowerShell. N-central stops it after an hour.",
        "In Automation Manager, put it into “Run PowerShell Script”.",
        "There, 0 is success and anything else a failure. The script returns 0 for 3010 and 1641 too.",
        texts.detect,
      ],
      snippet: installSnippet("Script for N-central", texts, exitZeroOrOne),
    },
  ];
}

/** Tools whose scripts are steps of their own, of which a later step reads the output. */
function outputTools(texts: SharedTexts): ToolGuide[] {
  const { fileName } = texts.facts;
  const reads = "The next step reads the last line of the output: “Exit code 0”, 3010 or 1641 is success.";
  const place =
    texts.facts.urls === undefined
      ? `Copy ${fileName} to a folder that only administrators can write, and start the script with Set-Location to it.`
      : "The PC must reach Platen.";
  const steps = [place, reads, texts.detect];
  return [
    {
      tool: "ConnectWise Automate",
      steps: ["Run this script in a PowerShell step, as the agent (SYSTEM).", ...steps],
      snippet: installSnippet("Script for Automate", texts, exitWithCodeInOutput),
    },
    {
      tool: "ConnectWise RMM",
      steps: ["Add a task with a PowerShell script step, and paste this script.", ...steps],
      snippet: installSnippet("Script for ConnectWise RMM", texts, exitWithCodeInOutput),
    },
    {
      tool: "Kaseya VSA",
      steps: ["Run this script in 64-bit PowerShell as System, in a procedure or workflow.", ...steps],
      snippet: installSnippet("Script for VSA", texts, exitWithCodeInOutput),
    },
  ];
}

/** Tools that deploy the unpacked ZIP as a package. */
function packageTools({ facts, parameters }: SharedTexts): ToolGuide[] {
  const { fileName } = facts;
  return [
    {
      tool: "PDQ",
      steps: [
        `Unpack ${fileName} into a folder that only administrators can write.`,
        "In PDQ Deploy, add an install step with its install.ps1. Include the entire directory.",
        `In PDQ Connect, add ${fileName} to a package, and paste “${attachedLabel}” as a PowerShell step.`,
        ...(parameters ? [`In PDQ Deploy, give install.ps1 the parameter ${parameters}.`] : []),
        "Success codes: 0, 1641, 3010. Deploy again after 1618 (busy); 1603 failed.",
      ],
    },
    {
      tool: "ConfigMgr",
      steps: [
        `Unpack ${fileName} into a content folder. Create an application with a deployment type “Script Installer”.`,
        "Installation and uninstall program: the commands below. Do not run them as a 32-bit process.",
        "Detection: this detect.ps1 as a custom PowerShell script. ConfigMgr takes 32 KB. It prints nothing if the printer is missing.",
        "Install for system, whether or not a user is logged on.",
        "The default return codes fit: 3010 soft reboot, 1641 hard reboot, 1618 fast retry.",
        ...(parameters ? ["Deploy to the PCs of one site: ConfigMgr does not read the subnets."] : []),
      ],
      snippet: {
        label: "Installation and uninstall program",
        text: `${installCommand}\n${uninstallCommand}`,
      },
      variants: configMgr,
    },
  ];
}

/** A script that downloads `install.ps1`, or unpacks the ZIP if machines cannot download without a link. */
function installSnippet(label: string, { facts, parameters }: SharedTexts, exit: string): Snippet {
  const { fileName, urls, installSha256: sha256 } = facts;
  const text =
    urls === undefined
      ? unpackAndInstallScript(fileName, { parameters, exit })
      : downloadAndRunScript(urls.install, { parameters, exit, sha256 });
  return { label, text };
}
