import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makePng } from "../support/printers/png.ts";

const [first, second] = [makePng(), makePng(256, 256, 100)];

async function startWithClient(t: TestContext): Promise<TestApp> {
  const service = await startApp(t);
  await service.post("/clients", { name: "Contoso" });
  return service;
}

const iconFiles = ({ dataDir }: TestApp) => readdirSync(join(dataDir, "icons"));
const served = async ({ fetch }: TestApp) =>
  Buffer.from(await (await fetch("/clients/1/icon")).arrayBuffer());

test("a client’s icon is saved, replaced, served and deleted, and each change can be undone", async (t) => {
  const service = await startWithClient(t);
  const { upload, fetch, post, app } = service;

  const saved = [
    await upload("/clients/1/icon", first, "icon.png"),
    await upload("/clients/1/icon", second, "icon.png"),
  ];
  const [replaced] = app.undo.list();
  const undone = await post(`/deletions/${replaced?.id}/undo`, {});
  const back = await served(service);
  const deleted = await fetch("/clients/1/icon", { method: "DELETE" });
  const gone = await fetch("/clients/1/icon");
  await post(`/deletions/${app.undo.list()[0]?.id}/undo`, {});

  assert.deepEqual(
    [...saved, undone, deleted, gone].map(({ status }) => status),
    [200, 200, 200, 200, 404],
  );
  assert.deepEqual(back, first);
  assert.deepEqual(await served(service), first);
});

test("an invalid icon is refused with the reason on the client’s page, and nothing is left of it", async (t) => {
  const service = await startWithClient(t);
  const { upload, dataDir } = service;

  const answers = [
    await upload("/clients/1/icon", Buffer.from("GIF89a"), "icon.png", navigation),
    await upload("/clients/1/icon", makePng(255, 256), "icon.png"),
    await upload("/clients/1/icon", Buffer.alloc(768_001), "icon.png"),
    await upload("/clients/9/icon", first, "icon.png"),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [422, 422, 413, 404],
  );
  assert.match((await answers[0]?.text()) ?? "", /Contoso[\s\S]*role="alert">This file is not a PNG/);
  assert.equal(service.app.store.clients.get(1).icon, undefined);
  assert.deepEqual([...iconFiles(service), ...readdirSync(join(dataDir, "incoming"))], []);
});

test("apps of printers without an icon get the client’s, and a printer’s own icon stays", {
  skip: without.verifier,
}, async (t) => {
  const service = await startWithClient(t);
  const { addPrinter, upload, fetch } = service;
  const bare = await addPrinter({ name: "Bare", client_id: "1" });
  const own = await addPrinter({ name: "Own", client_id: "1", driver_id: "1", address: "10.0.0.8" });
  await upload("/clients/1/icon", first, "icon.png");
  await upload(`/printers/${own}/icon`, second, "icon.png");

  const icons = await Promise.all(
    [bare, own].map(async (id) => {
      const tree = verifyIntunewin(await bytesOf(fetch(`/printers/${id}/packages/mdm`)));
      return tree["icon.png"];
    }),
  );
  const script = (await bytesOf(fetch("/clients/1/publish"))).toString();
  const rmm = unpackers.fflate(await bytesOf(fetch(`/printers/${bare}/packages/rmm`)));
  const page = await (await fetch(`/printers/${bare}`)).text();

  assert.deepEqual(icons, [first, second]);
  assert.ok(script.includes(first.toString("base64")) && script.includes(second.toString("base64")));
  assert.equal(rmm["icon.png"], undefined);
  assert.match(page, /\/clients\/1\/icon/);
});

test("the file of a deleted client’s icon stays until the deletion is final", async (t) => {
  const service = await startWithClient(t);
  const { upload, post, app } = service;
  await upload("/clients/1/icon", first, "icon.png");

  await post("/clients/1/delete", {});
  const kept = iconFiles(service);
  await post(`/deletions/${app.undo.list()[0]?.id}/undo`, {});
  const restored = await served(service);
  await post("/clients/1/delete", {});
  await app.undo.makeFinal(app.undo.list()[0]?.id ?? 0);

  assert.equal(kept.length, 1);
  assert.deepEqual(restored, first);
  assert.deepEqual(iconFiles(service), []);
});

test("a client’s icon survives a restart, and the log says who set it without the picture", async (t) => {
  const service = await startWithClient(t);
  await service.upload("/clients/1/icon", first, "icon.png");
  const [entry] = (await logEntries(service)).slice(-1);
  await service.stop();

  const again = await startApp(t, { dataDir: service.dataDir });

  assert.deepEqual(await served(again), first);
  assert.deepEqual(
    entry?.fields?.map(({ name }) => name),
    ["icon_sha256"],
  );
  assert.ok(existsSync(join(service.dataDir, "icons")));
});
