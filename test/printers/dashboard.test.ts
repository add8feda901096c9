import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { newerVersions } from "../../src/domain/drivers/driver-version.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { textOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makeDriver } from "../support/records.ts";
import { until } from "../support/until.ts";

/** The dashboard's list of problems: number and sentence by link target. */
async function needs({ fetch }: Pick<TestApp, "fetch">): Promise<Record<string, string>> {
  const text = await textOf(fetch("/"));
  const found = text.matchAll(
    /<a href="([^"]*)">\s*<span class="figure">([^<]*)<\/span> <span>([^<]*)<\/span><\/a>/g,
  );
  return Object.fromEntries([...found].map(([, path, number, sentence]) => [path, `${number} ${sentence}`]));
}

test("an empty dashboard has one button for each step, marks those that are done, and is without problems in the end", async (t) => {
  const { fetch, post, addDriver, addPrinter } = await startApp(t);
  const page = () => textOf(fetch("/"));
  const stepsIn = (text: string) =>
    [...text.matchAll(/<li>(.*?)<\/li>/gs)]
      .map(([, item = ""]) => item.replaceAll(/\s+/g, " "))
      .filter((item) => /New client|Upload driver|New printer/.test(item))
      .map((item) => {
        const state = /Done:/.test(item) ? "done" : /button primary/.test(item) ? "next" : "later";
        return `${state} ${/href="([^"]*)"/.exec(item)?.[1]}`;
      });

  const empty = await page();
  await post("/clients", { name: "Alpha" });
  await addDriver();
  const last = await page();
  await addPrinter({ driver_id: "1" });
  const ready = await page();

  const paths = ["/clients#client-form", "/drivers#upload-form", "/printers?new=1#new-printer"];
  const withState = (...states: string[]) => states.map((state, i) => `${state} ${paths[i]}`);
  assert.match(empty, /First package in three steps/);
  assert.deepEqual(stepsIn(empty), withState("next", "later", "later"));
  assert.deepEqual(stepsIn(last), withState("done", "done", "next"));
  assert.doesNotMatch(last, /Needs attention|Nothing needs attention/);
  assert.match(ready, /Nothing needs attention: every printer can be deployed\./);
  assert.doesNotMatch(ready, /Needs attention|Changed or deleted in the last ten minutes/);
});

test("the dashboard shows the five newest printers with the reason that blocks them, and the five newest that have a driver with their downloads", async (t) => {
  const { fetch, addDriver, post } = await startApp(t);
  await addDriver();
  for (const [kind, driver_id] of [["With", "1"] as const, ["Bare", ""] as const])
    for (let i = 1; i <= 6; i++)
      await post("/printers", { name: `${kind} ${i}`, address: "10.0.0.1", driver_id });

  const text = await textOf(fetch("/"));

  const items = [...text.matchAll(/<li><a href="\/printers\/\d+">.*?<\/li>/gs)].map(([item]) => item);
  const names = items.map((item) => /<bdi>(\w+ \d)</.exec(item)?.[1]);
  const newest = ["Bare", "With"].flatMap((name) => [6, 5, 4, 3, 2].map((i) => `${name} ${i}`));
  assert.deepEqual(names, newest);
  assert.match(items[0] ?? "", /Blocked.*No driver assigned/s);
  assert.match(items[5] ?? "", /href="\/printers\/6\/packages\/mdm".*href="\/printers\/6\/packages\/rmm"/s);
});

test("the dashboard counts the queues that need a vendor's driver, and links to them", async (t) => {
  const { addPrinter, addDriver, fetch } = await startApp(t);
  const driver_id = String(await addDriver());
  const steps: [fields: Record<string, string>, line: string][] = [
    [{ driver_id: "1000001" }, "undefined"],
    [{ driver_id }, "1 of 2 queues needs a vendor’s driver"],
    [{ driver_id, address: "", port_name: "" }, "1 of 2 queues needs a vendor’s driver"],
    [{ driver_id }, "2 of 3 queues need a vendor’s driver"],
  ];

  for (const [i, [fields, line]] of steps.entries()) {
    await addPrinter({ name: `P${i}`, ...fields });
    const page = await textOf(fetch("/"));
    assert.equal(`${/<a href="\/printers\?state=vendor-driver">([^<]*)</.exec(page)?.[1]}`, line);
  }
});

test("every problem is counted, and links to the list that shows it", async (t) => {
  const app = await startApp(t);
  const { post, fetch, addDriver, addPrinter } = app;
  await post("/clients", { name: "Alpha" });
  const old = await addDriver();
  await addDriver(driverZip({ version: "2.0.0.0", date: "06/21/2026" }));
  const unsigned = await addDriver(driverZip({ provider: "Other", catalog: null }));
  const several = await addDriver(driverZip({ provider: "Third", models: ["A 1", "B 2"] }));
  const printer = (name: string, address: string, driver: number | "" = old) =>
    addPrinter({ client_id: "1", driver_id: String(driver), name, address });
  const first = await printer("Office", "10.0.0.1");
  await printer("office", "10.0.0.2");
  await printer("Hall", "10.0.0.2");
  await printer("Cellar", "10.0.0.3", unsigned);
  await printer("Attic", "10.0.0.4", "");
  await printer("Loft", "10.0.0.5", several);
  await (await fetch(`/printers/${first}/scripts/install`)).text();
  await until(() => app.app.deployments.lastDeployed(first) !== undefined);
  const moved = { name: "Office", address: "10.0.0.9", client_id: "1", driver_id: String(old) };
  await post(`/printers/${first}`, moved);
  await post("/clients", { name: "Beta" });
  await fetch("/clients/2", { method: "DELETE" });

  const found = await needs(app);

  assert.deepEqual(found, {
    "/printers?state=blocked": "2 printers cannot be deployed",
    "/drivers?state=blocked": "1 driver cannot be installed",
    "/printers?state=changed": "1 printer changed since the last download: deploy again",
    "/printers?state=same-name": "2 printers with a duplicate name",
    "/printers?state=same-address": "2 printers with a duplicate address",
    "/printers?state=unchosen-model": "1 printer without a chosen model",
    "/drivers?state=attention": "1 driver needing attention",
    "/drivers?state=newer": "1 driver with a newer version available",
    "/drivers?state=unused": found["/drivers?state=unused"],
    "/#deleted": "2 recent changes that you can undo",
  });
  assert.match(found["/drivers?state=unused"] ?? "", /^1 unused driver, \d+ bytes$/);
});

test("a missing archive is counted, a deletion shows how long it can be undone, and every page leads to backups and the log", async (t) => {
  const app = await startApp(t, { undoMs: 90_000 });
  const { post, fetch, addPrinter, dataDir } = app;
  await addPrinter();
  await post("/clients", { name: "Alpha" });
  await fetch("/clients/1", { method: "DELETE" });
  rmSync(`${dataDir}/drivers`, { recursive: true });

  const text = await textOf(fetch("/"));
  const list = await textOf(fetch("/printers"));

  assert.match(text, /1<\/span> <span>printer cannot be deployed/);
  assert.match(
    text,
    /Changed or deleted in the last ten minutes.*<bdi>Alpha<\/bdi> <span class="soft">client/s,
  );
  assert.match(text, /<time class="soft" datetime="PT(?:90|89|88)S">[12] minutes? left<\/time>/);
  // Without sign-in there are neither accounts nor tokens.
  const places = [...list.matchAll(/<li><a href="\/(backups|audit|accounts|tokens)" ?>/g)];
  const names = places.map(([, name]) => name);
  assert.deepEqual(names, ["backups", "audit"]);
  assert.match(list, /<a href="\/help"[^>]*>Help</);
});

test("a driver is newer than one that Windows ranks lower, with the same provider, INF name and machines", () => {
  const driver = (id: number, version: string, inf: Parameters<typeof makeDriver>[0] = {}) =>
    makeDriver({ id, ...inf, inf: { driverVer: { date: "01/01/2025", version }, ...inf?.inf } });
  const drivers = [
    ...[driver(1, "1.0"), driver(2, "1.10"), driver(3, "1.9")],
    driver(4, "9.0", { inf: { provider: "Somebody else" } }),
    driver(5, "9.0", { inf: { path: "other.inf" } }),
    driver(6, "9.0", { inf: { architectures: ["x86"] } }),
    driver(7, "0.5", {
      inf: { provider: "PAPYRUS", path: "sub/Papyrus.inf", architectures: ["amd64", "x86"] },
    }),
    driver(8, "9.0", { inf: { provider: null } }),
    driver(9, "9.0", { inf: { provider: "%MFG%" } }),
    driver(10, "", { inf: { driverVer: null } }),
  ];

  const newer = drivers.flatMap((one) => {
    const [newest] = newerVersions(one, drivers);
    return newest === undefined ? [] : [`${one.id} < ${newest.id}`];
  });

  assert.deepEqual(newer, ["1 < 2", "3 < 2", "10 < 2"]);
});
