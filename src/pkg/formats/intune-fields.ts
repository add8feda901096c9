import type { FieldSection, PackageField } from "../../domain/deploy/package-format.ts";
import { architecturesInWords } from "../../domain/drivers/driver.ts";
import { installCommand, uninstallCommand } from "../scripts/commands.ts";
import type { PackageFacts } from "./format.ts";

/**
 * What Intune's portal asks for when a Win32 app is added by hand: its pages in its order, in its own words (Microsoft
 * Learn, “Add, assign, and monitor a Win32 app in Microsoft Intune”, February 2026).
 */
export function intuneSections(facts: PackageFacts): FieldSection[] {
  return [
    { title: "App information", fields: appInformation(facts) },
    { title: "Program", fields: program },
    { title: "Requirements", fields: requirements(facts) },
    { title: "Detection rules", fields: detectionRules(facts) },
    {
      title: "Dependencies",
      fields: [{ label: "Add", value: "", hint: facts.dependencies }],
    },
  ];
}

/** What the portal asks for on its page Dependencies. @param apps by their names there */
export function intuneDependencies(apps: readonly string[], isMixed: boolean): FieldSection[] {
  const added = apps.map((value) => ({ label: "Add", value, isCode: true, hint: "the app of this name" }));
  const fields = [...added, { label: "Automatically install", value: "Yes" }];
  return [{ title: "Dependencies", fields: isMixed ? [...fields, unproven] : fields }];
}

const unproven: PackageField = {
  label: "Machines",
  value: "",
  hint: "These drivers are for different machines. What Intune does with a dependency that does not apply to a machine, nobody here has seen: try one machine of each kind first.",
};

function appInformation({ name, description, publisher, version, notes }: PackageFacts): PackageField[] {
  return [
    { label: "Name", value: name, isCode: true },
    { label: "Description", value: description },
    publisher === undefined
      ? { label: "Publisher", value: "", hint: "your choice: a maker’s name or your own" }
      : { label: "Publisher", value: publisher },
    { label: "App Version", value: version },
    { label: "Notes", value: notes },
    { label: "Logo", value: "", name: "logo" },
  ];
}

const program: readonly PackageField[] = [
  { label: "Install command", value: installCommand, isCode: true, name: "install_cmd" },
  { label: "Uninstall command", value: uninstallCommand, isCode: true, name: "uninstall_cmd" },
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

function requirements(facts: PackageFacts): PackageField[] {
  const { machines } = facts;
  const choice = "under “Yes. Specify the systems …”";
  return [
    machines.length === 0
      ? {
          label: "Operating system architecture",
          value: "",
          hint: "no machine can have all of these drivers",
        }
      : { label: "Operating system architecture", value: architecturesInWords(machines), hint: choice },
    { label: "Minimum operating system", value: facts.minimumWindows },
    ...requirementRule(facts),
  ];
}

const allOfThem =
  "The package installs all of its printers wherever it runs: deploy printers of different places one by one.";

/** Without a place there is none to enter. */
function requirementRule({ place, requirementFileName }: PackageFacts): PackageField[] {
  if (place === undefined) return [];
  const label = "Configure additional requirement rules";
  if (place.anywhere > 0)
    return [{ label, value: "", hint: `none: some of these printers belong anywhere. ${allOfThem}` }];
  const add = "Add, with the requirement type Script, and with these values.";
  const again = "Machines outside the subnets count as not applicable. Put it in anew when subnets change.";
  return [
    { label, value: "", hint: place.isOne ? add : `${add} ${allOfThem}` },
    { label: "Script name", value: "The machine is in its subnets" },
    {
      label: "Script file",
      value: requirementFileName,
      isCode: true,
      name: "requirement_script",
      hint: again,
    },
    { label: "Run script as 32-bit process on 64-bit clients", value: "No" },
    { label: "Run this script using the logged on credentials", value: "No" },
    { label: "Enforce script signature check", value: "No" },
    { label: "Select output data type", value: "String" },
    { label: "Operator", value: "Equals" },
    { label: "Value", value: "applicable", isCode: true },
  ];
}

function detectionRules({ detectionFileName }: PackageFacts): PackageField[] {
  return [
    { label: "Rules format", value: "Use a custom detection script" },
    { label: "Script file", value: detectionFileName, isCode: true, name: "detection_script" },
    { label: "Run script as 32-bit process on 64-bit clients", value: "No" },
    { label: "Enforce script signature check and run script silently", value: "No" },
  ];
}
