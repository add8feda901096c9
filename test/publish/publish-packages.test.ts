import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makePng } from "../support/printers/png.ts";
import {
  appWithSharedDriver,
  fetchPublishScript,
  type ReadApp,
  scriptText,
} from "../support/publish/published.ts";

/** Downloads an app's package and describes it like the script does. */
async function downloaded(app: ReadApp) {
  const answer = await fetch(app.Package.Url);
  const bytes = await bytesOf(answer);
  return {
    ETag: answer.headers.get("etag")?.replaceAll('"', ""),
    FileName: /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1],
    Size: bytes.length,
    DetectionSha256: createHash("sha256").update(detectionIn(bytes)).digest("hex"),
  };
}

/** The `Detection.xml` of a package. */
function detectionIn(outer: Buffer): Buffer {
  const end = "</ApplicationInfo>";
  return outer.subarray(outer.indexOf("<ApplicationInfo"), outer.indexOf(end) + end.length);
}

test("the script describes each package exactly as it is downloaded", async (t) => {
  const app = await appWithSharedDriver(t);
  await app.upload("/printers/3/icon", makePng(256, 256, 50), "logo.png");
  const { settings } = await fetchPublishScript(app, "/clients/1/publish");
  const apps = [...settings.Apps, settings.Together as ReadApp];

  const found = [];
  for (const one of apps) found.push(await downloaded(one));

  assert.equal(apps.length, 5);
  assert.deepEqual(
    apps.map(({ Package: { Url: _, ...said } }) => said),
    found,
  );
});

test("detection and requirement scripts equal those that are downloaded alone", async (t) => {
  const app = await appWithSharedDriver(t);
  const { settings } = await fetchPublishScript(app, "/clients/1/publish");

  const scripts = settings.Apps.flatMap(({ Detection, Requirement }) => [Detection, Requirement]).map(
    (script) => script && scriptText(settings, script),
  );
  const detected = scriptText(settings, settings.Together?.Detection ?? { Frame: "", Settings: "" });

  const text = async (path: string) => (await app.fetch(path)).text();
  const apart = "?driver=apart";
  assert.deepEqual(scripts, [
    await text("/drivers/1/scripts/detect"),
    null,
    await text(`/printers/1/scripts/detect${apart}`),
    await text(`/printers/1/scripts/requirement${apart}`),
    await text(`/printers/2/scripts/detect${apart}`),
    await text(`/printers/2/scripts/requirement${apart}`),
    await text("/printers/3/scripts/detect"),
    await text("/printers/3/scripts/requirement"),
  ]);
  assert.equal(detected, await text("/clients/1/scripts/detect"));
});

test("a client's single app has a requirement script only if all of its printers have subnets", async (t) => {
  const app = await appWithSharedDriver(t);
  await app.addPrinter({ name: "D", client_id: "1", driver_id: "2", subnets: "10.3.0.0/16" });
  const scriptTogether = async () => {
    const { settings } = await fetchPublishScript(app, "/clients/1/publish");
    const { Requirement } = settings.Together ?? { Requirement: null };
    return Requirement && scriptText(settings, Requirement);
  };

  const everywhere = await scriptTogether();
  const downloaded = await (await app.fetch("/clients/1/scripts/requirement")).text();
  await app.post("/clients/1", { name: "Müller", subnets: "" });
  const partly = await scriptTogether();

  assert.deepEqual([everywhere, partly], [downloaded, null]);
});

test("a record that cannot be published is refused with the reason", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Empty" });
  await app.post("/printers", { name: "Bare", address: "10.0.0.1" });
  await app.addPrinter();
  await app.app.store.blobs.remove("drivers", app.app.store.drivers.get(1).sha256);
  const paths = [
    "/printers/9",
    "/clients/9",
    "/drivers/9",
    "/clients/1",
    "/printers/1",
    "/printers/2",
    "/drivers/1",
  ];

  const answers = [];
  for (const path of paths) answers.push(await app.fetch(`${path}/publish`));

  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404, 404, 422, 422, 422, 422],
  );
  const texts = await Promise.all(answers.slice(3).map((answer) => answer.text()));
  const said = [
    /has no printers\. Add one first/,
    /choose one on the printer/,
    /is missing on the server/,
    /is missing on the server/,
  ];
  for (const [i, reason] of said.entries()) assert.match(texts[i] ?? "", reason);
});

/** About 740 KB, different for each number. */
const iconOf = (i: number) => makePng(256, 256, 740_000 + i);

deepTest(
  "a client whose icons are too large for one script is refused, and equal icons count once",
  async (t) => {
    const app = await startApp(t);
    await app.post("/clients", { name: "A" });
    const driver_id = String(await app.addDriver());
    for (let i = 1; i <= 12; i++) {
      await app.addPrinter({ name: `P${i}`, client_id: "1", driver_id });
      await app.upload(`/printers/${i}/icon`, iconOf(i), "logo.png");
    }

    const refused = await app.fetch("/clients/1/publish");
    const one = await app.fetch("/printers/1/publish");
    await app.upload("/printers/12/icon", iconOf(1), "logo.png");
    const { settings } = await fetchPublishScript(app, "/clients/1/publish");

    assert.deepEqual([refused.status, one.status], [422, 200]);
    assert.match(await refused.text(), /Publish the printers separately/);
    assert.equal(Object.keys(settings.Icons).length, 11);
    const iconIn = (name: string) => settings.Apps.find(({ Fields }) => Fields.displayName === name)?.Icon;
    assert.match(iconIn("P1 (A)") ?? "", /^I\d+$/);
    assert.equal(iconIn("P1 (A)"), iconIn("P12 (A)"));
  },
);
