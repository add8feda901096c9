import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { type Config, needsSignIn } from "../../config.ts";
import { mayUse } from "../../domain/access/access.ts";
import type { LinkOwner } from "../../domain/access/link.ts";
import {
  type Driver,
  type DriverSummary,
  driverPackageName,
  shippedBy,
} from "../../domain/drivers/driver.ts";
import { uploadedDrivers } from "../../domain/drivers/windows-drivers.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { PrinterDetails, PrinterWithState } from "../../domain/printers/listings.ts";
import { driversOf } from "../../domain/printers/printer-drivers.ts";
import type { DeployOffer, OfferedScript } from "../../html/deploy/deploy.ts";
import { appsOfClient, appsOfPrinter, type OfferedPublish } from "../../html/deploy/publish.ts";
import { paths, pathsOf } from "../../html/paths.ts";
import type { PackageFacts, PackageFormat } from "../../pkg/formats/format.ts";
import { packageFormats } from "../../pkg/formats/formats.ts";
import { intune } from "../../pkg/formats/intune.ts";
import {
  commandFor,
  curlCommand,
  downloadAndRunCommand,
  interactiveCommand,
} from "../../pkg/scripts/commands.ts";
import type { Deployable } from "../../pkg/scripts/deployment.ts";
import { packagedScripts, type ScriptKind, scriptKinds } from "../../pkg/scripts/render.ts";
import {
  clientFileName,
  driverFileName,
  packageName,
  scriptFileName,
  scriptName,
  withoutDriverName,
} from "../../services/deploy/download-names.ts";
import {
  clientFacts,
  type DeploymentFacts,
  driverFacts,
  printerFacts,
} from "../../services/deploy/package-facts.ts";
import { senderOf } from "../sender.ts";
import { isLoopback, isOverHttp, serviceUrl } from "../service-url.ts";
import type { ScriptDigests } from "./script-digests.ts";

interface Target {
  readonly owner: LinkOwner;
  readonly facts: DeploymentFacts;
  /** Drivers that a package can leave out. */
  readonly drivers: readonly DriverSummary[];
  /** File name of its packages, without extension. */
  readonly packageName: string;
  /** File name of its scripts, without kind and extension. */
  readonly scriptName: string;
  /** The apps that its publish script makes, as the end of a sentence. */
  readonly makes: string;
  /** Undefined on a page whose commands run scripts without a check. */
  readonly digests: ScriptDigests | undefined;
}

/** The downloads of a printer, with instructions. @param siblings the deployable printers of its client */
export function printerOffer(
  app: App,
  request: IncomingMessage,
  details: PrinterDetails,
  deployable: Deployable,
  siblings: readonly PrinterWithState[],
  digests?: ScriptDigests | undefined,
): DeployOffer {
  const { id } = details.printer;
  return offerOf(app, request, {
    owner: { kind: "printer", id },
    facts: printerFacts(app.store, details, deployable),
    drivers: uploadedDrivers(driversOf(deployable)),
    packageName: packageName(details),
    scriptName: scriptName(details.printer),
    makes: appsOfPrinter(id, siblings),
    digests,
  });
}

/** The downloads of a client. @param rows the printers in its package */
export function clientOffer(
  app: App,
  request: IncomingMessage,
  client: Client,
  rows: readonly PrinterWithState[],
  digests?: ScriptDigests | undefined,
): DeployOffer {
  return offerOf(app, request, {
    owner: { kind: "client", id: client.id },
    facts: clientFacts(app.store, client, rows),
    drivers: uploadedDrivers(rows.flatMap(({ driver, arm64Driver }) => [driver, arm64Driver])),
    packageName: clientFileName(client),
    scriptName: clientFileName(client),
    makes: appsOfClient(rows),
    digests,
  });
}

/** The downloads of a driver. @param models the names under which it is installed */
export function driverOffer(
  app: App,
  request: IncomingMessage,
  driver: Driver,
  models: readonly string[],
  digests?: ScriptDigests | undefined,
): DeployOffer {
  return offerOf(app, request, {
    owner: { kind: "driver", id: driver.id },
    facts: driverFacts(app.store, driver, models),
    drivers: [],
    packageName: driverFileName(driver),
    scriptName: driverFileName(driver),
    makes: "one app with the driver and all models that printers use",
    digests,
  });
}

function offerOf(app: App, request: IncomingMessage, target: Target): DeployOffer {
  const { config, signing } = app;
  // With sign-in, machines cannot download from a plain address. Users make a link for each file instead.
  const address = serviceUrl(request);
  const service = needsSignIn(config) ? undefined : address;
  const { owner, facts, scriptName, digests } = target;
  const own = pathsOf(owner);
  const allKinds = owner.kind === "driver" ? packagedScripts : scriptKinds;
  const kinds = allKinds.filter((kind) => kind !== "requirement" || facts.requirement !== undefined);
  const scripts = kinds.map((kind) => ({
    kind,
    path: own.script(kind),
    fileName: scriptFileName(kind, scriptName),
    readPath: own.readScript(kind),
  }));
  const formats = packageFormats.map((format) => {
    const path = own.package(format.id);
    const fileName = target.packageName + format.extension;
    const install = own.script("install");
    const urls = service === undefined ? undefined : { package: service + path, install: service + install };
    const detectionFileName = scriptFileName("detect", scriptName);
    const requirementFileName = scriptFileName("requirement", scriptName);
    const names = { fileName, detectionFileName, requirementFileName };
    const all = { ...facts, ...names, urls, installSha256: digests?.install, signsScripts: signing.isUsed };
    const { id, target: goesTo, heading, label, fileType, guide } = format;
    return {
      ...{ id, target: goesTo, heading, label, fileType, guide, path, fileName },
      sections: format.fields(all),
      snippets: format.snippets(all),
      tools: format.tools(all),
      apart: apartOf(format, target, all),
      publish: id === intune.id ? publishOffer(config, target) : undefined,
    };
  });
  const isLoopbackOnly = address !== undefined && isLoopback(address);
  const commands = commandsFor(service, scripts, digests);
  const check = isOverHttp(service)
    ? { path: own.checked, isShown: digests?.install !== undefined }
    : undefined;
  const remediation = remediationOf(target);
  const links = linksOf(app, request, owner);
  return { formats, scripts, ...commands, isLoopbackOnly, check, remediation, links };
}

function remediationOf({ owner, facts, drivers }: Target): DeployOffer["remediation"] {
  if (owner.kind === "driver") return undefined;
  const own = pathsOf(owner);
  const install = own.script("install");
  const isApart = drivers.length > 0;
  return {
    detectPath: own.script("detect"),
    installPath: isApart ? paths.withoutDrivers(install) : install,
    isApart,
    hasSubnets: facts.subnets !== undefined,
  };
}

function publishOffer(config: Config, { owner, makes, scriptName }: Target): OfferedPublish {
  const own = pathsOf(owner);
  const fileName = scriptFileName("publish", scriptName);
  return {
    ...{ path: own.publish, readPath: own.readScript("publish"), fileName, makes },
    isForClient: owner.kind === "client",
    command: interactiveCommand(fileName),
    linkDays: needsSignIn(config) ? config.linkDays : undefined,
  };
}

function linksOf({ config, links }: App, request: IncomingMessage, owner: LinkOwner): DeployOffer["links"] {
  const { identity } = senderOf(request);
  if (!needsSignIn(config) || !mayUse(identity, "operator")) return undefined;
  const { links: path, endLinks: endPath } = pathsOf(owner);
  const hasToken = owner.kind !== "driver" && mayUse(identity, "admin");
  const tokenPath = hasToken ? paths.tokenFor(owner) : undefined;
  return { path, endPath, links: links.list(owner), days: config.linkDays, tokenPath };
}

function apartOf(format: PackageFormat, { owner, drivers, packageName: name }: Target, facts: PackageFacts) {
  if (drivers.length === 0) return undefined;
  const apps = drivers.map((driver) => ({
    name: driverPackageName(driver),
    path: paths.driverDeploy(driver.id),
  }));
  const isMixed = new Set(drivers.map(({ listed }) => shippedBy(listed).join())).size > 1;
  const fileName = withoutDriverName(name, true) + format.extension;
  return {
    path: paths.withoutDrivers(pathsOf(owner).package(format.id)),
    fileName,
    drivers: apps,
    sections: format.dependencyFields(drivers.map(driverPackageName), isMixed),
    // Without URLs, because a machine that can download from the service does not need a package without drivers.
    snippets: format.snippets({ ...facts, fileName, urls: undefined }),
  };
}

type OfferedScriptOfKind = OfferedScript & { readonly kind: ScriptKind };

const verbs: Readonly<Record<ScriptKind, string>> = {
  install: "Install",
  uninstall: "Uninstall",
  detect: "Detect",
  requirement: "Check whether the PC is applicable",
  diagnose: "Diagnose",
};

/** Commands to paste at a machine. @param service the address of Platen, if machines can download from it */
function commandsFor(
  service: string | undefined,
  scripts: readonly OfferedScriptOfKind[],
  digests: Partial<Record<ScriptKind, string | undefined>> = {},
): Pick<DeployOffer, "oneLine" | "diagnosis" | "byHand"> {
  const inFolder = ({ kind, fileName }: OfferedScriptOfKind) => ({
    label: `${verbs[kind]} (run in the download folder)`,
    text: commandFor(fileName),
  });
  const find = (kind: ScriptKind) => scripts.find((script) => script.kind === kind);
  const [install, diagnose] = [find("install"), find("diagnose")];
  const inOneLine = ({ kind, path }: OfferedScriptOfKind) =>
    service === undefined
      ? undefined
      : {
          label: `${verbs[kind]} with one command (PowerShell as administrator)`,
          text: downloadAndRunCommand(service + path, digests[kind]),
        };
  const url = service !== undefined && install && service + install.path;
  return {
    oneLine: install && inOneLine(install),
    diagnosis: diagnose && { path: diagnose.path, command: inOneLine(diagnose) ?? inFolder(diagnose) },
    byHand: [
      ...scripts.map(inFolder),
      ...(url
        ? [
            { label: "URL of the install script", text: url },
            { label: "Download with curl", text: curlCommand(url), hint: "In PowerShell: curl.exe." },
          ]
        : []),
    ],
  };
}
