import type { FieldMessages } from "../errors.ts";
import { cleanText, FieldReader, type FormInput, isTicked } from "../fields.ts";
import { checkedMerge } from "../form-versions.ts";
import { withoutInvisible } from "../text.ts";
import { type Driver, type DriverSettings, type DriverSummary, type InfSummary, infNamed } from "./driver.ts";
import { maxDriverName } from "./driver-name.ts";
import { hasModel, namesModel, needsModelChoice, preselectedModel } from "./models.ts";

/** A field that only Platen's own forms send. */
const formMarker = "from_form";

/** Whether one of Platen's own forms sent this: only then can a user be asked to choose a model. */
export function isFromForm(input: FormInput): boolean {
  return isTicked(input[formMarker]);
}

/** A driver's settings as its form shows and sends them. The model is empty as long as a user must choose it. */
export function driverFormValues(driver: DriverSummary): FormInput {
  const { name, comment, inf_path, driver_desc, trust_publisher, drop_unused, exact_version } = driver;
  return {
    inf_path: cleanText(inf_path),
    driver_desc: needsModelChoice(driver) ? "" : cleanText(driver_desc),
    name,
    comment,
    trust_publisher: trust_publisher ? "on" : "",
    drop_unused: drop_unused ? "on" : "",
    exact_version: exact_version ? "on" : "",
  };
}

/**
 * Merges a driver's form with the saved driver, as `checkedMerge` does.
 * @throws UserError "stale" if both users changed a field
 */
export function mergeDriverForm(form: FormInput, driver: DriverSummary, merge = checkedMerge) {
  const saved = driverFormValues(driver);
  const { inf_path, driver_desc, name, comment } = saved;
  const typed = cleanText(form.driver_desc_typed ?? "");
  // What was not sent keeps its value, and a typed model overrides a chosen one, as in `parseDriver`.
  const sent = { inf_path, driver_desc, name, comment, ...form, ...(typed !== "" && { driver_desc: typed }) };
  const merged = merge(sent, saved, [["inf_path", "driver_desc"]]);
  const { kept } = merged;
  return { ...merged, values: { ...form, ...kept, ...("driver_desc" in kept && { driver_desc_typed: "" }) } };
}

/**
 * A text field that was not sent keeps its value. An empty name means the one that Platen proposes. A typed model overrides a chosen one. If the chosen INF lacks the
 * model, one of Platen's forms is refused until the user chooses another; other clients get the preselected model.
 * @throws UserError "invalid" with a message for each field
 */
export function parseDriver(input: FormInput, driver: Driver): DriverSettings {
  const { name, comment, inf_path } = driver;
  const fields = new FieldReader({ name, comment, inf_path, ...input });
  const settings = {
    name: visibleName(fields.text("name", { label: "The name", maxLength: maxDriverName })),
    comment: fields.text("comment", { label: "The comment", maxLength: 2000, multiline: true }),
    inf_path: fields.text("inf_path", { label: "The INF" }),
    trust_publisher: fields.checkbox("trust_publisher"),
    drop_unused: fields.checkbox("drop_unused"),
    exact_version: fields.checkbox("exact_version"),
  };
  const inf = infNamed(driver, settings.inf_path);
  if (inf === undefined && settings.inf_path !== "")
    fields.refuse("inf_path", "This ZIP does not contain this INF. Choose another.");
  const choice = chooseModel(fields, input, driver, inf);
  fields.check();
  return { ...settings, ...choice, inf_path: inf?.path ?? settings.inf_path };
}

/** Names that look the same are the same. */
function visibleName(name: string): string {
  return withoutInvisible(name).replace(/\s+/g, " ").trim();
}

type ModelChoice = Pick<DriverSettings, "driver_desc" | "model_chosen">;

function chooseModel(
  fields: FieldReader,
  input: FormInput,
  driver: Driver,
  inf: InfSummary | undefined,
): ModelChoice {
  const typed = fields.text("driver_desc_typed", modelRule);
  if (typed !== "") return { driver_desc: typed, model_chosen: true };
  const isSent = input.driver_desc !== undefined;
  const sent = isSent ? fields.text("driver_desc", modelRule) : driver.driver_desc;
  const isSame = sent === driver.driver_desc;
  if (isAccepted(sent, driver, inf)) {
    const isConfirmed = isFromForm(input) && isSent && sent !== "";
    return { driver_desc: sent, model_chosen: driver.model_chosen || !isSame || isConfirmed };
  }
  if (isFromForm(input)) return askForModel(fields, inf?.descriptions ?? [], isSame ? "" : sent);
  if (!isSame) return { driver_desc: sent, model_chosen: true };
  return { driver_desc: inf ? preselectedModel(inf) : "", model_chosen: false };
}

/** Whether the INF has the model. The driver's current model is accepted as long as the INF stays the same. */
function isAccepted(model: string, driver: Driver, inf: InfSummary | undefined): boolean {
  if (model !== driver.driver_desc) return hasModel(inf, model);
  const isOtherInf = inf !== undefined && inf.path !== driver.inf_path;
  return !isOtherInf || namesModel(inf, model);
}

const modelRule = { label: "The model", maxLength: 500 };

/** Refuses the field, unless no model was sent and the INF has only one, which is then taken. */
function askForModel(fields: FieldReader, models: readonly string[], sent: string): ModelChoice {
  if (sent !== "")
    fields.refuse("driver_desc", `The INF does not contain the model “${sent}”. ${chooseOne(models.length)}`);
  else if (models.length > 1) fields.refuse("driver_desc", chooseOne(models.length));
  return { driver_desc: cleanText(models[0] ?? ""), model_chosen: false };
}

function chooseOne(count: number): string {
  return `Choose one of ${count} models.`;
}

/**
 * The message for a printer's form without a model if nobody has chosen the driver's model either. Requests from other
 * clients than Platen's forms get the preselected model.
 * @param field the field for the model of this driver
 */
export function modelProblem(
  input: FormInput,
  field: "driver_desc" | "arm64_driver_desc",
  driver: DriverSummary | undefined,
): FieldMessages {
  if (driver === undefined || !isFromForm(input) || cleanText(input[field] ?? "") !== "") return {};
  if (!needsModelChoice(driver)) return {};
  return { [field]: chooseOne(driver.listed?.modelCount ?? 0) };
}
