import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { client, navigation, startApp, temporaryFolder } from "../support/app.ts";
import { driverZip } from "../support/driver-zip.ts";
import { serve } from "../support/service.ts";
import { fill, smallDisk, startOnFullDisk, withoutDisk } from "../support/small-disk.ts";
import { until } from "../support/until.ts";

test("on a full disk a deletion is final, and says so", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return t.skip(withoutDisk);
  const { post, fetch, app } = full.app;

  const fragment = await (await fetch("/clients/1", { method: "DELETE" })).text();
  const icon = await (await fetch("/printers/1/icon", { method: "DELETE" })).text();
  const sent = (await post("/printers/1/delete", {}, navigation)).headers.get("location") ?? "";
  const page = await (await fetch(sent)).text();

  for (const text of [fragment, icon, page]) {
    assert.match(text, /There is no room to keep it: this cannot be taken back\./);
    assert.doesNotMatch(text, /\/undo"/);
  }
  assert.match(sent, /^\/printers\?deleted=[\w-]{12}$/);
  assert.deepEqual([app.undo.list(), readdirSync(join(full.dataDir, "icons"))], [[], []]);
});

test("a deletion that no room is found for when it is saved is final", {
  skip: process.platform === "win32" && "no ulimit here",
}, async (t) => {
  const service = await serve(t, await temporaryFolder(t), {}, "ulimit -f 256");
  const { post, fetch } = client(service.url);
  const ids: number[] = [];
  for (
    let id = 1;
    (await post("/clients", { name: `Client ${id}`, notes: "n".repeat(9000) })).status === 200;
    id++
  )
    ids.push(id);

  const answers: string[] = [];
  for (const id of ids) {
    const answer = await fetch(`/clients/${id}`, { method: "DELETE" });
    answers.push(answer.status === 200 ? await answer.text() : String(answer.status));
  }
  const finals = answers.filter((text) => text.includes("this cannot be taken back")).length;
  const kept = answers.filter((text) => text.includes("/undo")).length;

  assert.ok(ids.length > 5);
  assert.equal(
    finals + kept,
    ids.length,
    answers.find((text) => text.length < 4),
  );
  assert.ok(finals > 0);
  assert.equal((await (await fetch("/clients")).text()).includes("Client "), false);
});

test("what cannot be taken back on a full disk can be when there is room again", async (t) => {
  const disk = smallDisk(t, 144 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const { app, post, fetch, addDriver, upload } = await startApp(t, { dataDir: disk });
  const driver = await addDriver();
  await fetch(`/drivers/${driver}`, { method: "DELETE" });
  const kept = app.undo.list().length;
  const giveBack = fill(disk);

  const full = [
    await post("/deletions/1/undo", {}),
    await upload("/drivers/upload", driverZip({ version: "3.0" })),
  ];
  giveBack();
  const later = await post("/deletions/1/undo", {});

  assert.equal(kept, 1);
  assert.deepEqual(
    [...full, later].map(({ status }) => status),
    [507, 507, 200],
  );
  assert.equal((await fetch(`/drivers/${driver}/archive`)).status, 200);
});

test("downloads go on on a full disk; their counts are lost with one line in the log", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return t.skip(withoutDisk);
  const { fetch, app, lines } = full.app;

  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) {
    const answer = await fetch("/printers/1/scripts/install");
    await answer.text();
    statuses.push(answer.status);
    await until(() => app.deployments.ofPrinter(1).length > 0);
    await app.deployments.flush();
  }

  assert.deepEqual(statuses, [200, 200, 200]);
  assert.deepEqual(
    lines.map((line) => line.split(":").slice(0, 2).join(":")),
    ["warning: downloads are not counted"],
  );
});
