import type { DriverToFix, PrinterToFix, Remedy } from "../domain/errors.ts";
import type { FindingKind } from "../domain/printers/findings.ts";
import { type Html, html } from "./html.ts";
import { helpLinks, type Link } from "./layout.ts";
import { paths } from "./paths.ts";
import { counted } from "./text.ts";

/** Links to the place that fixes a driver's finding, unless the driver's page itself is that place. */
export function driverRemedy(kind: string, driver: DriverToFix): Link | undefined {
  if (kind === "unchosen-model") return { label: "Choose the model", path: paths.modelChoice(driver.id) };
  if (kind === "lost-model") return { label: "Choose another model", path: paths.modelChoice(driver.id) };
  if (kind === "archive") return uploadLink;
  return undefined;
}

/** Links to the form field or page that fixes a printer's finding. */
export function remedyOf(
  { kind, isArm64 }: { readonly kind: string; readonly isArm64?: boolean | undefined },
  { printer, driver: mainDriver, arm64Driver }: PrinterToFix,
): Link {
  const edit = (label: string, field: string) => ({
    label,
    path: `${paths.printerEdit(printer.id)}#f-${field}`,
  });
  const [driver, ownModel, prefix] = isArm64
    ? [arm64Driver, printer.arm64_driver_desc, "arm64_"]
    : [mainDriver, printer.driver_desc, ""];
  if (driver === undefined) return edit("Choose a driver", `${prefix}driver_id`);
  if (kind === "other-preferences")
    return { label: "Open the preferences", path: paths.printerPreferences(printer.id) };
  if (kind === "same-name") return edit("Rename printer", "name");
  if (kind === "same-address") return edit("Change the address", "address");
  if (kind === "not-for-arm64") return edit("Choose another driver for ARM64", "arm64_driver_id");
  if (kind === "unchosen-model") return edit("Choose the model", `${prefix}driver_desc`);
  if (kind === "lost-model" && ownModel !== "") return edit("Choose another model", `${prefix}driver_desc`);
  return driverRemedy(kind, driver) ?? { label: "Open the driver", path: paths.driver(driver.id) };
}

const uploadLink: Link = { label: "Upload driver", path: paths.uploadForm };

const helpOf: Partial<Record<FindingKind, Html>> = {
  unsigned: helpLinks(["Unsigned drivers", "drivers#inf-and-model"]),
  "missing-files": helpLinks(["Missing files", "drivers#inf-and-model"]),
  "unchosen-model": helpLinks(["INF and model", "drivers#inf-and-model"]),
  "lost-model": helpLinks(["INF and model", "drivers#inf-and-model"]),
  archive: helpLinks(["Uploading again", "drivers#upload"]),
  "other-preferences": helpLinks(["Vendor preferences", "printers#a-vendors-own-preferences"]),
  "not-for-arm64": helpLinks(["ARM64 PCs", "drivers#x64-and-arm64-pcs"]),
};

/** A link to the help about a finding. */
export function helpOnFinding(kind: FindingKind): Html | undefined {
  return helpOf[kind];
}

/** The link for a remedy that an error names. */
export function remedyLink(remedy: Remedy): Link {
  switch (remedy.kind) {
    case "printer": {
      const { label, path } = remedyOf(remedy.finding, remedy.row);
      return {
        label: remedy.isNamed ? html`<span><bdi>${remedy.row.printer.name}</bdi>: ${label}</span>` : label,
        path,
      };
    }
    case "upload":
      return uploadLink;
    case "package":
      return packageLink(remedy);
    case "left-out":
      return { label: "Show left-out printers", path: `${paths.client(remedy.client)}#deploy` };
    case "client-printers":
      return {
        label: `Show ${remedy.count === 1 ? "it" : `all ${counted(remedy.count, "printer")}`} in the list`,
        path: `${paths.printers}?client_id=${remedy.client}`,
      };
    case "sign-in":
      return { label: "Sign in (new tab)", path: paths.signIn, isNewTab: true };
    case "move":
      return {
        label: `Move ${counted(remedy.count, "printer")} to another driver…`,
        path: paths.driverMove(remedy.driver),
      };
  }
}

function packageLink({
  format,
  of,
  ids,
  withFailing,
  omitsDriver,
}: Extract<Remedy, { readonly kind: "package" }>): Link {
  const more = `${withFailing ? "&all=1" : ""}${omitsDriver ? "&driver=apart" : ""}`;
  const path = `${paths.packageOfChosen(format)}?ids=${ids.join(",")}${more}`;
  const printers = counted(ids.length, "printer");
  if (of !== undefined) return { label: html`<span>Download ${printers} of <bdi>${of}</bdi></span>`, path };
  return { label: `Download the other ${ids.length === 1 ? "one" : printers}`, path };
}
