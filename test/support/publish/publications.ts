import type { LinkOwner } from "../../../src/domain/access/link.ts";
import { graphFields } from "../../../src/pkg/formats/graph-app.ts";
import { deploymentOf, scriptSettings, withoutDrivers } from "../../../src/pkg/scripts/deployment.ts";
import { driverScriptSettings } from "../../../src/pkg/scripts/driver-deployment.ts";
import type { Publication, PublicationPart, PublishedApp } from "../../../src/pkg/scripts/publish-script.ts";
import { makeDriver, makePrinter } from "../records.ts";

/** An app whose texts are all the same. */
function makeApp(
  owner: LinkOwner,
  text: string,
  scripts: object,
  more: Partial<PublishedApp> = {},
): PublishedApp {
  const facts = { name: text, description: text, publisher: text, version: text };
  const machines = { machines: ["amd64"], minimumWindows: "Windows 10 1607" } as const;
  return {
    ...owner,
    revision: text,
    package: { url: text, etag: text, fileName: text, size: 2000, detectionSha256: text },
    fields: graphFields({ ...facts, ...machines, owner: text }, owner, text) ?? {},
    ...{ notesText: text, signatures: {}, hasRequirement: true, icon: undefined, dependsOn: [] },
    scripts: JSON.stringify(scripts),
    ...more,
  };
}

/**
 * A printer with its driver as an app of its own, and its client's single app, with `text` in every text field.
 * @param parts what differs from that, for each part of the script
 */
export function makePublication(
  text: string,
  parts: readonly Partial<PublicationPart>[] = [{}],
): Publication {
  const driver = makeDriver({ name: text });
  const printer = { ...makePrinter({ id: "7" }), name: text, location: text, comment: text };
  const deployable = { printer, driver, arm64Driver: undefined, client: { subnets: ["10.1.2.0/24"] } };
  const scripts = scriptSettings(withoutDrivers(deploymentOf(deployable)));
  const ofDriver = driverScriptSettings({ driver, models: [text] });
  const driverApp = { kind: "driver", id: 1 } as const;
  const part: PublicationPart = {
    ...{ title: text, client: text, tenant: "", url: text },
    apps: [
      makeApp(driverApp, text, ofDriver, { hasRequirement: false }),
      makeApp({ kind: "printer", id: 7 }, text, scripts, { dependsOn: [driverApp], icon: "a" }),
    ],
    attention: [text],
    leftOut: [{ name: text, reason: text }],
    together: makeApp({ kind: "client", id: 3 }, text, scripts),
    togetherRefusal: text,
  };
  return {
    ...{ logName: "Platen-publish-contoso", instance: "0123456789ab", isForAll: false, madeAt: 0 },
    parts: parts.map((changes) => ({ ...part, ...changes })),
    icons: new Map([["a", new Uint8Array([1, 2, 3])]]),
    records: {
      printers: { ids: [7], last: 9 },
      clients: { ids: [3], last: 3 },
      drivers: { ids: [], last: 0 },
    },
  };
}
