import { failureOf } from "../domain/deployment-choice.ts";
import type { Standing } from "../domain/listings.ts";
import { type DeployOffer, deployTabs, logoOf } from "./deploy.ts";
import { type Html, html } from "./html.ts";
import { type Note, noteBlock } from "./notes.ts";
import { counted, isolated } from "./text.ts";

/** What a driver's page offers of the driver by itself. */
export interface DriverDeploy {
  /** Under which it is installed. */
  readonly models: readonly string[];
  /** What printers deploy although the INF does not have it. */
  readonly leftOut: readonly string[];
  /** Why it cannot be deployed, with the remedy; undefined where it can. */
  readonly problem: string | undefined;
  readonly offer: Omit<DeployOffer, "logo">;
}

/** One driver for many printers: what can be downloaded of it without any of them. */
export function driverDeploySection(
  standing: Standing,
  isUsed: boolean,
  { models, leftOut, problem, offer }: DriverDeploy,
): Html {
  const why = problem ?? standing.findings.find(({ kind }) => kind === "archive")?.text;
  if (why !== undefined) {
    return html`<section class="deploy" id="deploy"><h2>Deploy the driver alone</h2><p>${isolated(why)}</p></section>`;
  }
  const logo = logoOf(undefined, html`your choice: a PNG of the maker’s or your own`);
  const tabs = deployTabs({ ...offer, logo });
  const isFailing = failureOf(standing) !== undefined;
  return html`<section class="deploy" id="deploy"><h2>Deploy the driver alone</h2>
    <p>For many printers that share it: deploy the driver once with this package, and each printer <em>without the driver</em>,
      which its own page offers. A printer’s usual package has the driver in it and needs nothing of this.</p>
    ${modelLine(models, isUsed)}
    ${leftOut.length > 0 && html`<p class="notice warn">Left out, because the INF does not have it: ${listedNames(leftOut)}.</p>`}
    ${isFailing ? html`<details class="more"><summary>Download all the same</summary>${tabs}</details>` : tabs}
    ${noteBlock(aboutUninstalling)}</section>`;
}

const aboutUninstalling: Note = {
  title: "dependencies and uninstalling",
  known: [
    "Uninstalling leaves each model that a queue uses or another deployment names, and says whose it is. Remove printers first.",
    "A printer’s package without the driver never takes the driver, because it did not bring it.",
  ],
  unseen: [
    "in which order Intune installs apps that depend on each other, and what it does with one that does not apply to a machine",
    "that Windows keeps the files of a driver as long as another model of the same INF is installed, as its documentation says",
  ],
};

/** So many names are read; what is more is folded. */
const shownModels = 3;

function modelLine(models: readonly string[], isUsed: boolean): Html {
  if (!isUsed) return html`<p>Installs ${listedNames(models)}, its own model: no printer uses it yet.</p>`;
  const note = "When a printer gets another model of it, upload this package again.";
  if (models.length <= shownModels) {
    return html`<p>Installs what printers use: ${listedNames(models)}. <span class="hint">${note}</span></p>`;
  }
  return html`<details class="more"><summary>Installs the ${counted(models.length, "model")} that printers use</summary>
    <ul class="names">${models.map((model) => html`<li><bdi>${model}</bdi></li>`)}</ul><p class="hint">${note}</p></details>`;
}

function listedNames(names: readonly string[]): Html {
  return html`${names.map((name, i) => html`${i > 0 && ", "}<bdi>${name}</bdi>`)}`;
}
