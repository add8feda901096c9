import { createHash } from "node:crypto";
import type { FieldSection, PackageField } from "../../domain/deploy/package-format.ts";
import { architecturesInWords } from "../../domain/drivers/driver.ts";
import { installCommand, uninstallCommand } from "../scripts/commands.ts";
import type { EncryptionInfo } from "./checkpoints.ts";
import type { Contents, LaidOutZip } from "./contents.ts";
import { cipherSize, deriveKeys, type EncryptionKeys } from "./encryption.ts";
import type {
  EncryptingZip,
  OpenPackage,
  PackageContext,
  PackageFacts,
  PackageFile,
  PackageFormat,
} from "./format.ts";
import { detectionXml, packageSize, packageWrapper } from "./intunewin.ts";

interface IntunePackage extends PackageFile {
  /**
   * SHA-256 of its `Detection.xml` in hex. It identifies the whole content, because `Detection.xml` contains the keys and
   * the HMAC of the ciphertext.
   * @throws UserError "busy", or "invalid" with the remedy
   */
  detectionDigest(): Promise<string>;
}

/** A Win32 app for Microsoft Intune: the same ZIP as `rmm` plus the icon, encrypted and wrapped. */
export const intune = {
  // URLs and the audit log use this id.
  id: "mdm",
  target: "Intune",
  heading: "Intune by hand",
  label: "Intune (.intunewin)",
  fileType: ".intunewin",
  contentType: "application/octet-stream",
  extension: ".intunewin",
  hasIcon: true,
  guide:
    "In Intune: Apps > All Apps > Create, Windows app (Win32). After a change, replace the package and detect.ps1 in the app.",
  fields: intuneSections,
  dependencyFields: intuneDependencies,
  snippets: () => [],
  tools: () => [],
  async build(contents: Contents, context: PackageContext): Promise<IntunePackage> {
    const zip = await context.layOut(contents);
    const keys = deriveKeys(context.secret, keyDigest(zip));
    const { size } = zip.layout;
    return {
      size: packageSize(size),
      etag: `mdm-${etagOf(zip, keys)}`,
      detectionDigest: async () => {
        const open = await context.openForEncryption(zip);
        const sums = await open.encryptionInfo(keys).finally(() => open.close());
        return createHash("sha256")
          .update(detectionXml(size, keys, sums))
          .digest("hex");
      },
      open: async () => openEncrypted(await context.openForEncryption(zip), keys, size),
    };
  },
  async prepare(contents, context) {
    const zip = await context.layOut(contents);
    const open = await context.openForEncryption(zip);
    await open.prepare(deriveKeys(context.secret, keyDigest(zip))).finally(() => open.close());
  },
} as const satisfies PackageFormat;

/** Packages with the same drivers begin with the same bytes, so they share keys. Packages without drivers share none. */
function keyDigest({ drivers, digest }: LaidOutZip): Uint8Array {
  return drivers.sourceCount > 0 ? drivers.digest : digest;
}

/** The bytes also depend on the keys: an installation with another secret makes different packages. */
function etagOf({ digest }: LaidOutZip, { iv }: EncryptionKeys): string {
  return createHash("sha256").update(digest).update(iv).digest("hex").slice(0, 32);
}

/** Computes the sums before the first byte is sent, because a download can only be refused before that. */
async function openEncrypted(
  zip: EncryptingZip,
  keys: EncryptionKeys,
  plainSize: number,
): Promise<OpenPackage> {
  try {
    const info = await zip.encryptionInfo(keys);
    return {
      chunks: (start, end) => encryptedChunks(zip, keys, info, plainSize, start, end),
      close: () => zip.close(),
    };
  } catch (error) {
    await zip.close();
    throw error;
  }
}

async function* encryptedChunks(
  zip: EncryptingZip,
  keys: EncryptionKeys,
  info: EncryptionInfo,
  plainSize: number,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  const wrapper = packageWrapper(plainSize, keys, info);
  const { head } = wrapper;
  const cipherEnd = head.length + cipherSize(plainSize);
  if (start < head.length) yield head.subarray(start, end);
  const from = Math.max(0, start - head.length);
  const to = Math.min(end, cipherEnd) - head.length;
  if (from < to) yield* zip.encrypt(keys, info, from, to);
  if (end > cipherEnd) yield wrapper.end.subarray(Math.max(0, start - cipherEnd), end - cipherEnd);
}

/**
 * The fields of Intune's portal for a new Win32 app, with the portal's pages, order and words (Microsoft Learn, “Add,
 * assign, and monitor a Win32 app in Microsoft Intune”, February 2026).
 */
function intuneSections(facts: PackageFacts): FieldSection[] {
  return [
    { title: "App information", fields: appInformation(facts) },
    { title: "Program", fields: program },
    { title: "Requirements", fields: requirements(facts) },
    { title: "Detection rules", fields: detectionRules(facts) },
    { title: "Dependencies", fields: [{ label: "Add", value: "", hint: facts.dependencies }] },
    { title: "Supersedence", fields: [{ label: "Add", value: "", hint: "none: updated in place" }] },
    { title: "Assignments", fields: assignments },
  ];
}

/** The fields of the portal's page Dependencies. @param apps names of the driver apps in Intune */
function intuneDependencies(apps: readonly string[], isMixed: boolean): FieldSection[] {
  const added = apps.map((value) => ({ label: "Add", value, isCode: true, hint: "the app of this name" }));
  const fields = [...added, { label: "Automatically install", value: "Yes" }];
  return [{ title: "Dependencies", fields: isMixed ? [...fields, mixedMachinesField] : fields }];
}

const mixedMachinesField: PackageField = {
  label: "Architecture",
  value: "",
  hint: "These drivers are for different architectures. Not tested in Intune: try one PC of each kind first.",
};

function appInformation(facts: PackageFacts): PackageField[] {
  const { name, description, publisher, version, owner, notes, notesText } = facts;
  return [
    { label: "Name", value: name, isCode: true },
    { label: "Description", value: description },
    publisher === undefined
      ? { label: "Publisher", value: "", hint: "your choice: the vendor’s name or your own" }
      : { label: "Publisher", value: publisher },
    { label: "App Version", value: version },
    ...(owner === "" ? [] : [{ label: "Owner", value: owner }]),
    { label: "Notes", value: notesText === "" ? notes : `${notesText}\n${notes}` },
    { label: "Logo", value: "", elementId: "logo" },
  ];
}

const program: readonly PackageField[] = [
  { label: "Install command", value: installCommand, isCode: true, elementId: "install_cmd" },
  { label: "Uninstall command", value: uninstallCommand, isCode: true, elementId: "uninstall_cmd" },
  { label: "Installation time required (mins)", value: "60" },
  { label: "Allow available uninstall", value: "Yes" },
  { label: "Install behavior", value: "System" },
  { label: "Device restart behavior", value: "Determine behavior based on return codes" },
  {
    label: "Return codes",
    value: "0 Success, 1707 Success, 3010 Soft reboot, 1641 Hard reboot, 1618 Retry",
    hint: "preset",
  },
];

/** The fields of the portal's page Assignments. */
const assignments: readonly PackageField[] = [
  { label: "Required", value: "", hint: "a device group: installs automatically" },
  {
    label: "Available for enrolled devices",
    value: "",
    hint: "a user group: users install it in Company Portal",
  },
  {
    label: "Uninstall",
    value: "",
    hint: "waits one minute for open print jobs; if any remain, Intune tries again (1618)",
  },
  { label: "End user notifications", value: "Show toast notifications for computer restarts" },
  { label: "Delivery optimization priority", value: "Content download in background" },
];

function requirements(facts: PackageFacts): PackageField[] {
  const { machines } = facts;
  const choice = "under “Yes. Specify the systems …”";
  return [
    machines.length === 0
      ? {
          label: "Operating system architecture",
          value: "",
          hint: "no PC can have all of these drivers",
        }
      : { label: "Operating system architecture", value: architecturesInWords(machines), hint: choice },
    { label: "Minimum operating system", value: facts.minimumWindows },
    ...requirementRule(facts),
  ];
}

const installsAllHint =
  "The package installs all printers on every PC. Deploy each subnet’s printers separately.";

/** The answer to Intune's question about signatures. @param label Intune's words for it */
function signatureCheck(label: string, { signsScripts }: Pick<PackageFacts, "signsScripts">): PackageField {
  if (!signsScripts) return { label, value: "No" };
  return { label, value: "Yes", hint: "No, as long as this page says that scripts are not signed." };
}

/** Printers for every PC need no requirement rule. */
function requirementRule(facts: PackageFacts): PackageField[] {
  const { requirement, requirementFileName } = facts;
  if (requirement === undefined) return [];
  const label = "Configure additional requirement rules";
  if (requirement.isPartial)
    return [{ label, value: "", hint: `None. Some of these printers are for all PCs. ${installsAllHint}` }];
  const add = "Add, with the requirement type Script, and with these values.";
  const hint = requirement.asksReachable
    ? "PCs that cannot reach the printer are not applicable. Upload again when its address changes."
    : "PCs outside the subnets are not applicable. Upload again when subnets change.";
  return [
    { label, value: "", hint: requirement.areSame ? add : `${add} ${installsAllHint}` },
    { label: "Script name", value: "The machine is in its subnets" },
    {
      label: "Script file",
      value: requirementFileName,
      isCode: true,
      elementId: "requirement_script",
      hint,
    },
    { label: "Run script as 32-bit process on 64-bit clients", value: "No" },
    { label: "Run this script using the logged on credentials", value: "No" },
    signatureCheck("Enforce script signature check", facts),
    { label: "Select output data type", value: "String" },
    { label: "Operator", value: "Equals" },
    { label: "Value", value: "applicable", isCode: true },
  ];
}

function detectionRules(facts: PackageFacts): PackageField[] {
  return [
    { label: "Rules format", value: "Use a custom detection script" },
    { label: "Script file", value: facts.detectionFileName, isCode: true, elementId: "detection_script" },
    { label: "Run script as 32-bit process on 64-bit clients", value: "No" },
    signatureCheck("Enforce script signature check and run script silently", facts),
  ];
}
