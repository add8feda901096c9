import type { LinkOwner } from "../../../src/domain/access/link.ts";
import { graphFields } from "../../../src/pkg/formats/graph-app.ts";
import { deploymentOf, scriptSettings, withoutDrivers } from "../../../src/pkg/scripts/deployment.ts";
import { driverScriptSettings } from "../../../src/pkg/scripts/driver-deployment.ts";
import type { Publication, PublishedApp } from "../../../src/pkg/scripts/publish-script.ts";
import { makeDriver, makePrinter } from "../records.ts";

/** An app whose texts are all the same. */
export function makeApp(
  owner: LinkOwner,
  text: string,
  more: Partial<PublishedApp> & { readonly scripts: string },
): PublishedApp {
  const facts = { name: text, description: text, publisher: text, version: text };
  const machines = { machines: ["amd64"], minimumWindows: "Windows 10 1607" } as const;
  return {
    ...owner,
    revision: text,
    package: {
      url: text,
      etag: text,
      fileName: text,
      size: 2000,
      detectionSha256: text,
    },
    fields: graphFields({ ...facts, ...machines, owner: text }, owner, text) ?? {},
    notesText: text,
    signatures: {},
    hasRequirement: true,
    icon: undefined,
    dependsOn: [],
    ...more,
  };
}

/** A printer with its driver as an app of its own, and its client's single app, with `text` in every text field. */
export function makePublication(text: string): Publication {
  const driver = makeDriver({ name: text });
  const printer = { ...makePrinter({ id: "7" }), name: text, location: text, comment: text };
  const deployable = { printer, driver, arm64Driver: undefined, client: { subnets: ["10.1.2.0/24"] } };
  const scripts = JSON.stringify(scriptSettings(withoutDrivers(deploymentOf(deployable))));
  const ofDriver = JSON.stringify(driverScriptSettings({ driver, models: [text] }));
  const driverApp = { kind: "driver", id: 1 } as const;
  return {
    logName: "Platen-publish-contoso",
    instance: "0123456789ab",
    isForAll: false,
    madeAt: 0,
    parts: [
      {
        title: text,
        client: text,
        tenant: "",
        url: text,
        apps: [
          makeApp(driverApp, text, { scripts: ofDriver, hasRequirement: false }),
          makeApp({ kind: "printer", id: 7 }, text, { scripts, dependsOn: [driverApp], icon: "a" }),
        ],
        attention: [text],
        leftOut: [{ name: text, reason: text }],
        together: makeApp({ kind: "client", id: 3 }, text, { scripts }),
        togetherRefusal: text,
      },
    ],
    icons: new Map([["a", new Uint8Array([1, 2, 3])]]),
    records: {
      printers: { ids: [7], last: 9 },
      clients: { ids: [3], last: 3 },
      drivers: { ids: [], last: 0 },
    },
  };
}
