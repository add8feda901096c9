import detect from "./detect.ps1";
import diagnoseDefaultPrinter from "./diagnose/default-printer.ps1";
import deployment from "./diagnose/deployment.ps1";
import device from "./diagnose/device.ps1";
import deviceIpp from "./diagnose/device-ipp.ps1";
import deviceSnmp from "./diagnose/device-snmp.ps1";
import doubles from "./diagnose/doubles.ps1";
import findings from "./diagnose/findings.ps1";
import http from "./diagnose/http.ps1";
import ipp from "./diagnose/ipp.ps1";
import printLog from "./diagnose/log.ps1";
import diagnoseMachine from "./diagnose/machine.ps1";
import network from "./diagnose/network.ps1";
import diagnoseQueue from "./diagnose/queue.ps1";
import snmp from "./diagnose/snmp.ps1";
import diagnose from "./diagnose.ps1";
import addresses from "./install/addresses.ps1";
import connections from "./install/connections.ps1";
import installDefaultPrinter from "./install/default-printer.ps1";
import download from "./install/download.ps1";
import installDriver from "./install/driver.ps1";
import installDriverAlone from "./install/driver-alone.ps1";
import driverFiles from "./install/driver-files.ps1";
import driverPackage from "./install/driver-package.ps1";
import driverThere from "./install/driver-there.ps1";
import exactVersion from "./install/exact-version.ps1";
import formerPorts from "./install/former-ports.ps1";
import ippAdd from "./install/ipp-add.ps1";
import ippQueue from "./install/ipp-queue.ps1";
import installLogon from "./install/logon.ps1";
import machine from "./install/machine.ps1";
import installMarker from "./install/marker.ps1";
import port from "./install/port.ps1";
import preferences from "./install/preferences.ps1";
import printTicket from "./install/print-ticket.ps1";
import installPublisher from "./install/publisher.ps1";
import installQueue from "./install/queue.ps1";
import queueOptions from "./install/queue-options.ps1";
import userPreferences from "./install/user-preferences.ps1";
import vendorPreferences from "./install/vendor-preferences.ps1";
import windowsDriver from "./install/windows-driver.ps1";
import install from "./install.ps1";
import logonScript from "./logon.ps1";
import requirement from "./requirement.ps1";
import { aroundRegion } from "./script-text.ts";
import administrator from "./shared/administrator.ps1";
import architecture from "./shared/architecture.ps1";
import deployed from "./shared/deployed.ps1";
import differences from "./shared/differences.ps1";
import driverRemoval from "./shared/driver-removal.ps1";
import driverVersion from "./shared/driver-version.ps1";
import exchange from "./shared/exchange.ps1";
import exitCodes from "./shared/exit-codes.ps1";
import ippDifferences from "./shared/ipp-differences.ps1";
import jobs from "./shared/jobs.ps1";
import language from "./shared/language.ps1";
import log from "./shared/log.ps1";
import logon from "./shared/logon.ps1";
import portAddresses from "./shared/port-addresses.ps1";
import printQueries from "./shared/print-queries.ps1";
import protectedPrint from "./shared/protected-print.ps1";
import publisherStore from "./shared/publisher-store.ps1";
import reachable from "./shared/reachable.ps1";
import registry from "./shared/registry.ps1";
import registryChanges from "./shared/registry-changes.ps1";
import relaunch from "./shared/relaunch.ps1";
import removal from "./shared/removal.ps1";
import run from "./shared/run.ps1";
import site from "./shared/site.ps1";
import spooler from "./shared/spooler.ps1";
import subnets from "./shared/subnets.ps1";
import users from "./shared/users.ps1";
import uninstallDefaultPrinter from "./uninstall/default-printer.ps1";
import uninstallDriver from "./uninstall/driver.ps1";
import uninstallDriverAlone from "./uninstall/driver-alone.ps1";
import uninstallMarker from "./uninstall/marker.ps1";
import uninstallPublisher from "./uninstall/publisher.ps1";
import uninstallQueue from "./uninstall/queue.ps1";
import uninstall from "./uninstall.ps1";

export const packagedScripts = ["install", "uninstall", "detect"] as const;

/** The scripts in packages, and those that exist only as single downloads. */
export const scriptKinds = [...packagedScripts, "requirement", "diagnose"] as const;
export type ScriptKind = (typeof scriptKinds)[number];

interface ScriptSource {
  /** The script. `render.ts` replaces its regions `#<settings>` and `#<parts>`. */
  readonly body: string;
  /** PowerShell files for the region `#<parts>`, in this order, because top-level code can use only earlier parts. */
  readonly parts: readonly string[];
}

const basicParts = [language, relaunch, registry, architecture];
/** Compares a machine's drivers and queues with the settings. */
const comparingParts = [...basicParts, driverVersion, ...printersOnly(differences, ippDifferences)];
const installAndUninstallParts = [
  exitCodes,
  log,
  spooler,
  administrator,
  run,
  printQueries,
  registryChanges,
  ...printersOnly(removal),
  publisherStore,
  ...printersOnly(users, logon),
];

/** Marks parts that the scripts of a driver without a printer leave out. */
function printersOnly(...parts: readonly string[]): string[] {
  return parts.map((part) => onlyIf("printer", part));
}

function onlyIf(need: string, part: string): string {
  return `#<if ${need}>\n${part}\n#</if>`;
}

/** install.ps1 contains the script for log-on as a here-string. That one has some functions of other parts. */
const logonFunctions = [
  functionIn(registry, "Get-RegistryValue"),
  functionIn(registryChanges, "Set-RegistryValue"),
  subnets.trim(),
];
const logonSetup = aroundRegion(installLogon, "logon-script").join(
  aroundRegion(logonScript, "script-parts").join(logonFunctions.join("\n\n")).trim(),
);

function functionIn(part: string, name: string): string {
  const start = part.indexOf(`function ${name} {`);
  return part.slice(start, part.indexOf("\n}\n", start) + "\n}".length);
}

export const scriptSources: Readonly<Record<ScriptKind, ScriptSource>> = {
  install: {
    body: install,
    parts: [
      ...comparingParts,
      ...installAndUninstallParts,
      protectedPrint,
      onlyIf("subnets", subnets),
      site,
      machine,
      windowsDriver,
      driverThere,
      installDriver,
      onlyIf("exact", driverRemoval),
      exchange,
      exactVersion,
      installDriverAlone,
      driverPackage,
      driverFiles,
      download,
      installPublisher,
      ...printersOnly(
        port,
        formerPorts,
        installQueue,
        onlyIf("ipp", reachable),
        portAddresses,
        ippQueue,
        ippAdd,
        addresses,
      ),
      ...printersOnly(queueOptions, vendorPreferences, preferences, printTicket),
      ...printersOnly(installDefaultPrinter, connections, userPreferences, logonSetup),
      installMarker,
    ],
  },
  uninstall: {
    body: uninstall,
    parts: [
      ...basicParts,
      ...installAndUninstallParts,
      driverRemoval,
      exchange,
      ...printersOnly(jobs, uninstallQueue, uninstallDefaultPrinter),
      uninstallDriver,
      uninstallDriverAlone,
      uninstallPublisher,
      uninstallMarker,
    ],
  },
  detect: { body: detect, parts: [...comparingParts, deployed, onlyIf("subnets", subnets), site] },
  diagnose: {
    body: diagnose,
    parts: [
      ...basicParts,
      driverVersion,
      differences,
      ippDifferences,
      deployed,
      administrator,
      protectedPrint,
      users,
      findings,
      diagnoseMachine,
      deployment,
      network,
      onlyIf("ipp|port", http),
      onlyIf("ipp|port", ipp),
      snmp,
      device,
      onlyIf("ipp|port", deviceIpp),
      deviceSnmp,
      jobs,
      diagnoseQueue,
      printLog,
      portAddresses,
      doubles,
      diagnoseDefaultPrinter,
    ],
  },
  requirement: {
    body: requirement,
    parts: [language, onlyIf("subnets", subnets), site, onlyIf("reachable", reachable)],
  },
};
