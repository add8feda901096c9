import {
  type ArchiveState,
  archiveProblem,
  completeFor,
  type DriverSummary,
  driverNeeds,
  architecturesInWords as inWords,
  type ListedInf,
} from "./driver.ts";
import { addTo, groupsBy } from "./groups.ts";
import { isUniversal } from "./models.ts";
import { effectiveDescription, type Printer } from "./printer.ts";

/** What can be said of a printer or a driver, the best first. */
export const states = ["ready", "attention", "blocked"] as const;

/**
 * `ready`; `attention`: it can be deployed, and there is reason to look; `blocked`: packages would be refused, or are
 * known to fail on Windows.
 */
export type State = (typeof states)[number];

/** What a finding is about, so that lists can count and narrow by it. */
export const findingKinds = [
  "no-driver",
  "archive",
  "incomplete",
  "missing-files",
  "lost-model",
  "unsigned",
  "unchosen-model",
  "same-name",
  "same-address",
] as const;

export type FindingKind = (typeof findingKinds)[number];

/** A reason why something is not ready, with what it means at the client's and the remedy, in a sentence or two. */
export interface Finding {
  readonly kind: FindingKind;
  readonly state: Exclude<State, "ready">;
  readonly text: string;
  /** The driver on whose page the remedy is, where it is a driver's. */
  readonly driver?: Pick<DriverSummary, "id" | "file_name">;
}

/** The state of what has these findings. */
export function stateOf(findings: readonly Finding[]): State {
  if (findings.some(({ state }) => state === "blocked")) return "blocked";
  return findings.length > 0 ? "attention" : "ready";
}

/** The worst first, otherwise in the order of `findingKinds`. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  const rank = ({ state, kind }: Finding) => (state === "blocked" ? 0 : 100) + findingKinds.indexOf(kind);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

/** What keeps a driver, whatever model is deployed, from being installed. */
function packageFindings(driver: DriverSummary, archive: ArchiveState): Finding[] {
  const found: Finding[] = [];
  const blocked = (kind: FindingKind, text: string) => found.push({ kind, state: "blocked", text });
  if (archive !== "sound") blocked("archive", `The archive ${archiveProblem(driver, archive)}`);
  const { listed } = driver;
  if (listed === undefined) return found;
  if (listed.missingCount > 0) found.push(missingFiles(listed));
  if (!listed.signed) found.push(unsigned(listed.architectures.some((name) => name !== "x86")));
  return found;
}

/** What is missing for old machines alone does no harm to the others. */
function missingFiles(listed: ListedInf): Finding {
  const { missingCount, missingFor } = listed;
  const what =
    missingCount === 1 ? "A file that the INF needs is" : `${missingCount} files that the INF needs are`;
  const whole = completeFor(listed);
  if (!whole.includes("amd64")) {
    return { kind: "missing-files", state: "blocked", text: `${what} missing: the installation will fail.` };
  }
  const text = `${what} missing for ${inWords(missingFor)}: the installation will fail there, not on ${inWords(whole)}.`;
  return { kind: "missing-files", state: "attention", text };
}

function unsigned(hasSixtyFour: boolean): Finding {
  return hasSixtyFour
    ? { kind: "unsigned", state: "blocked", text: "Unsigned: 64-bit Windows will refuse this driver." }
    : { kind: "unsigned", state: "attention", text: "Unsigned: Windows warns of this driver." };
}

/** What an operator must know of a driver before it is deployed, the worst first. */
export function driverFindings(driver: DriverSummary, archive: ArchiveState): Finding[] {
  const found = packageFindings(driver, archive);
  const needs = driverNeeds(driver);
  if (needs !== undefined) {
    found.push({ kind: "incomplete", state: "blocked", text: `Needs attention. ${needs}` });
  }
  found.push(...modelFindings(driver.driver_desc, driver));
  if (needs === undefined && isUnchosen(driver)) found.push(unchosen(driver));
  return worstFirst(ofDriver(found, driver));
}

/** What an operator must know of a printer and its driver before it is deployed, the worst first. */
export function printerFindings(
  printer: Pick<Printer, "driver_desc">,
  driver: DriverSummary | undefined,
  archive: ArchiveState,
): Finding[] {
  if (driver === undefined) {
    return [{ kind: "no-driver", state: "blocked", text: "No driver assigned: choose one to deploy it." }];
  }
  const found = packageFindings(driver, archive);
  const model = effectiveDescription(printer, driver);
  const needs = driverNeeds({ inf_path: driver.inf_path, driver_desc: model });
  if (needs !== undefined) found.push({ kind: "incomplete", state: "blocked", text: needs });
  found.push(...modelFindings(model, driver));
  if (needs === undefined && printer.driver_desc === "" && isUnchosen(driver)) found.push(unchosen(driver));
  return worstFirst(ofDriver(found, driver));
}

function ofDriver(found: readonly Finding[], { id, file_name }: DriverSummary): Finding[] {
  const driver = { id, file_name };
  return found.map((finding) => ({ ...finding, driver }));
}

function modelFindings(model: string, { listed }: DriverSummary): Finding[] {
  if (!listed?.lostModels.includes(model)) return [];
  const text = `The INF has no model “${model}”: the installation will fail. Choose one that it has.`;
  return [{ kind: "lost-model", state: "blocked", text }];
}

/** Whether nobody has chosen the driver's model although the INF has several names, none of them for all. */
export function isUnchosen({
  model_chosen,
  driver_desc,
  listed,
}: Pick<DriverSummary, "model_chosen" | "driver_desc" | "listed">): boolean {
  return !model_chosen && (listed?.modelCount ?? 0) > 1 && !isUniversal(driver_desc);
}

function unchosen({ driver_desc, listed }: DriverSummary): Finding {
  return {
    kind: "unchosen-model",
    state: "attention",
    text: `Deploys ${driver_desc}, the first of ${listed?.modelCount ?? 0} names: nobody has chosen it.`,
  };
}

type Twin = Pick<Printer, "id" | "name" | "address">;

/**
 * What printers of one client say of each other: two queues of one name, or one address twice.
 * @returns findings by the printer's id
 */
export function twinFindings(printers: readonly Twin[]): Map<number, Finding[]> {
  const found = new Map<number, Finding[]>();
  const add = (id: number, kind: FindingKind, text: string) =>
    addTo(found, id, { kind, state: "attention", text });
  for (const twins of twinsBy(printers, ({ name }) => name)) {
    const text = "Another queue of this client has the same name: a PC can have only one of them.";
    for (const { id } of twins) add(id, "same-name", text);
  }
  for (const twins of twinsBy(printers, ({ address }) => address)) {
    const [first, second] = twins;
    const more = twins.length > 2 ? ` and ${twins.length - 2} more` : "";
    for (const { id, address } of twins) {
      const other = id === first?.id ? second : first;
      add(id, "same-address", `“${other?.name}”${more} of this client has the address ${address} too.`);
    }
  }
  return found;
}

/** Groups of two or more that have the same text, without regard to case. */
function twinsBy(printers: readonly Twin[], textOf: (printer: Twin) => string): Twin[][] {
  const groups = groupsBy(printers, (printer) => textOf(printer).toLowerCase());
  return [...groups].filter(([key, group]) => key !== "" && group.length > 1).map(([, group]) => group);
}
