import { addTo, groupBy } from "../collections.ts";
import {
  type Architecture,
  type ArchiveState,
  archiveProblem,
  completeFor,
  type DriverSummary,
  deployProblem,
  architecturesInWords as inWords,
  type ListedInf,
  shippedBy,
} from "../drivers/driver.ts";
import { needsModelChoice } from "../drivers/models.ts";
import { isOfOtherDriver, type Preferences, takesPreferences } from "./preferences.ts";
import { effectiveDescription, type Printer } from "./printer.ts";
import { arm64Description, shipsArm64 } from "./printer-drivers.ts";

/** The states of printers and drivers, the best first. */
export const states = ["ready", "attention", "blocked"] as const;

/**
 * `attention`: it can be deployed, but an operator should check it. `blocked`: packages are refused, or are known to
 * fail on Windows.
 */
export type State = (typeof states)[number];

/** The kinds of findings, by which lists can be filtered and counted. `worstFirst` sorts in this order. */
export const findingKinds = [
  "no-driver",
  "archive",
  "incomplete",
  "missing-files",
  "lost-model",
  "unsigned",
  "not-for-arm64",
  "unchosen-model",
  "other-preferences",
  "same-name",
  "same-address",
] as const;

export type FindingKind = (typeof findingKinds)[number];

/** A reason why a printer or driver is not `ready`. */
export interface Finding {
  readonly kind: FindingKind;
  readonly state: Exclude<State, "ready">;
  /** One or two sentences: the reason, its effect on the machines, and the remedy. */
  readonly text: string;
  /** The driver whose page has the remedy. */
  readonly driver?: Pick<DriverSummary, "id" | "file_name">;
  /** Set if the finding is about a printer's driver for ARM64. */
  readonly isArm64?: true;
  /** The printer with the same name or address. */
  readonly other?: Pick<Printer, "id" | "name">;
}

export function stateOf(findings: readonly Finding[]): State {
  if (findings.some(({ state }) => state === "blocked")) return "blocked";
  return findings.length > 0 ? "attention" : "ready";
}

/** The worst first, otherwise in the order of `findingKinds`. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  const rank = ({ state, kind }: Finding) => (state === "blocked" ? 0 : 100) + findingKinds.indexOf(kind);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

/**
 * Findings about the archive and the files of a driver, which are the same for each of its models.
 * @param excluded architectures that install another driver
 */
function packageFindings(
  driver: DriverSummary,
  archive: ArchiveState,
  excluded: readonly Architecture[] = [],
): Finding[] {
  const found: Finding[] = [];
  const blocked = (kind: FindingKind, text: string) => found.push({ kind, state: "blocked", text });
  if (archive !== "sound") blocked("archive", `The driver ZIP ${archiveProblem(driver, archive)}`);
  if (driver.listed === undefined) return found;
  const listed = withoutMachines(driver.listed, excluded);
  if (listed.missingCount > 0) found.push(missingFiles(listed));
  else if (shippedBy(driver.listed).length === 0) blocked("missing-files", nothingShipped(driver.listed));
  if (!listed.signed) found.push(unsigned(listed.architectures.some((name) => name !== "x86")));
  return found;
}

/** The INF's data without the architectures that install another driver. */
function withoutMachines(listed: ListedInf, excluded: readonly Architecture[]): ListedInf {
  const isIncluded = (name: Architecture) => !excluded.includes(name);
  const missingFor = listed.missingFor.filter(isIncluded);
  const isOnlyExcluded = missingFor.length === 0 && listed.missingFor.length > 0;
  const missingCount = isOnlyExcluded ? 0 : listed.missingCount;
  return { ...listed, architectures: listed.architectures.filter(isIncluded), missingCount, missingFor };
}

/** Blocked if a file for x64 is missing. If only other architectures lack files, x64 machines are not affected. */
function missingFiles(listed: ListedInf): Finding {
  const { missingCount, missingFor } = listed;
  const what =
    missingCount === 1 ? "A file that the INF needs is" : `${missingCount} files that the INF needs are`;
  const complete = completeFor(listed);
  if (!complete.includes("amd64")) {
    return { kind: "missing-files", state: "blocked", text: `${what} missing. Installation fails.` };
  }
  const text = `${what} missing for ${inWords(missingFor)}. Installation fails there.`;
  return { kind: "missing-files", state: "attention", text };
}

function nothingShipped({ architectures }: ListedInf): string {
  if (architectures.length === 0) return "The INF names no architecture of Windows. Installation fails.";
  return `The INF is for ${inWords(architectures)}, but the ZIP’s program files are all for other machines. Installation fails.`;
}

function unsigned(has64Bit: boolean): Finding {
  return has64Bit
    ? { kind: "unsigned", state: "blocked", text: "Unsigned: 64-bit Windows will refuse this driver." }
    : { kind: "unsigned", state: "attention", text: "Unsigned: Windows warns about this driver." };
}

/**
 * The findings of a driver, the worst first.
 * @param isModelUsed whether a printer uses the driver's own model: only then somebody must choose it
 */
export function driverFindings(
  driver: DriverSummary,
  archive: ArchiveState,
  isModelUsed: boolean,
): Finding[] {
  const found = packageFindings(driver, archive);
  const needs = deployProblem(driver);
  if (needs !== undefined) {
    found.push({ kind: "incomplete", state: "blocked", text: needs });
  }
  found.push(...modelFindings(driver.driver_desc, driver));
  if (needs === undefined && isModelUsed && needsModelChoice(driver)) found.push(unchosen(driver));
  return worstFirst(ofDriver(found, driver));
}

/**
 * The findings of a printer and its drivers, the worst first.
 * @param arm64 the printer's driver for ARM64 machines
 */
export function printerFindings(
  printer: Pick<Printer, "driver_desc" | "arm64_driver_desc">,
  driver: DriverSummary | undefined,
  archive: ArchiveState,
  arm64?: CheckedDriver,
): Finding[] {
  if (driver === undefined) {
    return [{ kind: "no-driver", state: "blocked", text: "No driver assigned. Choose a driver." }];
  }
  const found = packageFindings(driver, archive, arm64 && ["arm64"]);
  const model = effectiveDescription(printer, driver);
  const needs = deployProblem({ inf_path: driver.inf_path, driver_desc: model });
  if (needs !== undefined) found.push({ kind: "incomplete", state: "blocked", text: needs });
  found.push(...modelFindings(model, driver));
  if (needs === undefined && printer.driver_desc === "" && needsModelChoice(driver))
    found.push(unchosen(driver));
  const ofArm64 = arm64 ? arm64Findings(printer, arm64) : [];
  // If both drivers are the same, their archive has only one finding.
  const others = ofArm64.filter(({ kind }) => kind !== "archive" || arm64?.driver.id !== driver.id);
  return worstFirst([...ofDriver(found, driver), ...others]);
}

interface CheckedDriver {
  readonly driver: DriverSummary;
  readonly archive: ArchiveState;
}

/**
 * The findings of a printer's driver for ARM64. Packages contain it, so problems of its archive or INF choice block them.
 * Other problems affect ARM64 machines only.
 */
function arm64Findings(
  printer: Pick<Printer, "arm64_driver_desc">,
  { driver, archive }: CheckedDriver,
): Finding[] {
  const found: Finding[] = [];
  const add = (kind: FindingKind, state: Finding["state"], text: string) =>
    found.push({ kind, state, text, isArm64: true });
  if (archive !== "sound")
    add("archive", "blocked", `The ZIP of the driver for ARM64 ${archiveProblem(driver, archive)}`);
  const model = arm64Description(printer, driver);
  const needs = deployProblem({ inf_path: driver.inf_path, driver_desc: model }, "The driver for ARM64");
  if (needs !== undefined) add("incomplete", "blocked", needs);
  for (const [kind, text] of arm64Failures(driver, model)) add(kind, "attention", text);
  if (needs === undefined && printer.arm64_driver_desc === "" && needsModelChoice(driver)) {
    add("unchosen-model", "attention", `On ARM64 PCs: ${unchosen(driver).text}`);
  }
  return ofDriver(found, driver);
}

/** Reasons why the installation will fail on ARM64 machines only. */
function arm64Failures(driver: DriverSummary, model: string): (readonly [FindingKind, string])[] {
  const { listed } = driver;
  if (listed === undefined) return [];
  if (!shipsArm64(driver)) {
    const text = "The driver for ARM64 has no ARM64 files. ARM64 PCs cannot install it.";
    return [["not-for-arm64", text]];
  }
  const found: [FindingKind, string][] = [];
  const effect = "Installation fails on ARM64 PCs.";
  if (listed.missingFor.includes("arm64")) {
    found.push(["missing-files", `Files that the driver for ARM64 needs are missing. ${effect}`]);
  }
  if (!listed.signed) found.push(["unsigned", "The driver for ARM64 is unsigned: ARM64 PCs will refuse it."]);
  if (listed.lostModels.includes(model)) {
    const text = `The INF of the driver for ARM64 does not contain the model “${model}”. ${effect} Choose another model.`;
    found.push(["lost-model", text]);
  }
  return found;
}

function ofDriver(found: readonly Finding[], { id, file_name }: DriverSummary): Finding[] {
  const driver = { id, file_name };
  return found.map((finding) => ({ ...finding, driver }));
}

function modelFindings(model: string, { listed }: DriverSummary): Finding[] {
  if (!listed?.lostModels.includes(model)) return [];
  const text = `The INF does not contain the model “${model}”. Installation fails. Choose another model.`;
  return [{ kind: "lost-model", state: "blocked", text }];
}

function unchosen({ driver_desc, listed }: DriverSummary): Finding {
  return {
    kind: "unchosen-model",
    state: "attention",
    text: `No model is chosen. Packages install the first of ${listed?.modelCount ?? 0} models: ${driver_desc}.`,
  };
}

interface WithPreferences {
  readonly printer: Parameters<typeof takesPreferences>[0] & Pick<Printer, "driver_desc">;
  readonly driver: DriverSummary | undefined;
  readonly preferences?: Pick<Preferences, "driver_sha256" | "driver_desc"> | undefined;
}

/** The finding about vendor preferences that were saved with another driver or model. */
export function preferencesFindings({ printer, driver, preferences }: WithPreferences): Finding[] {
  if (preferences === undefined || driver === undefined || !takesPreferences(printer)) return [];
  if (!isOfOtherDriver(preferences, printer, driver)) return [];
  const text =
    "The vendor preferences were saved with another driver. Save and upload them again, or delete them.";
  return [{ kind: "other-preferences", state: "attention", text }];
}

interface Neighbour {
  readonly printer: Pick<Printer, "id" | "name" | "address" | "replaces">;
  readonly client: { readonly id: number } | undefined;
}

/**
 * Findings about printers of the same client: duplicate names and duplicate addresses. Printers without a client are
 * not compared.
 * @param rows all printers of each client that occurs in them
 * @returns findings by printer id
 */
export function neighbourFindings(rows: readonly Neighbour[]): Map<number, Finding[]> {
  const found = new Map<number, Finding[]>();
  const add = (
    kind: FindingKind,
    same: Neighbour["printer"][],
    textOf: (other: string, address: string) => string,
  ) => {
    const [first, second] = same;
    const more = same.length > 2 ? ` and ${same.length - 2} more` : "";
    for (const { id, address } of same) {
      const other = id === first?.id ? second : first;
      if (other === undefined) continue;
      const text = textOf(`“${other.name}”${more}`, address);
      addTo(found, id, { kind, state: "attention", text, other: { id: other.id, name: other.name } });
    }
  };
  for (const same of duplicatesBy(rows, "name"))
    add("same-name", same, () => "Another printer of this client has this name. A PC can have only one.");
  for (const same of duplicatesBy(rows, "address").map(withoutReplaced))
    add("same-address", same, (other, address) => `Same address as ${other} of this client: ${address}.`);
  return found;
}

/** Without printers that another one replaces, as an IPP twin does. */
function withoutReplaced(group: readonly Neighbour["printer"][]): Neighbour["printer"][] {
  const replaced = new Set(group.flatMap(({ replaces }) => replaces.map((name) => name.toLowerCase())));
  return group.filter(({ name }) => !replaced.has(name.toLowerCase()));
}

/** Groups of printers of one client with the same `field`, without regard to case. */
function duplicatesBy(rows: readonly Neighbour[], field: "name" | "address"): Neighbour["printer"][][] {
  const ofClients = rows.filter(({ printer, client }) => client !== undefined && printer[field] !== "");
  const groups = groupBy(ofClients, ({ printer, client }) => `${client?.id} ${printer[field].toLowerCase()}`);
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group) => group.map(({ printer }) => printer));
}
