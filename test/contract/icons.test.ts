import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { makePng } from "../support/printers/png.ts";

test("an icon is saved, replaced and served", async (t) => {
  const { upload, fetch, addPrinter, dataDir, app } = await startApp(t);
  const id = await addPrinter();

  const first = await upload(`/printers/${id}/icon`, makePng(), "icon.png");
  const before = app.store.icons.find(id)?.sha256;
  const second = await upload(`/printers/${id}/icon`, makePng(256, 256, 100), "icon.png");
  await app.undo.makeFinal(1);
  const served = await fetch(`/printers/${id}/icon`);

  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.notEqual(app.store.icons.find(id)?.sha256, before);
  assert.equal(readdirSync(join(dataDir, "icons")).length, 1);
  assert.equal(served.headers.get("content-type"), "image/png");
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), makePng(256, 256, 100));
});

test("an invalid icon is refused in the icon’s section, and the old icon stays", async (t) => {
  const { app, upload, addPrinter, dataDir } = await startApp(t);
  const id = await addPrinter();
  await upload(`/printers/${id}/icon`, makePng(), "icon.png");
  const broken = makePng();
  broken[60] = (broken[60] ?? 0) ^ 1;
  const rest = 768_000 - makePng(256, 256, 1).length + 1;

  const answers = [
    await upload(`/printers/${id}/icon`, Buffer.from("GIF89a"), "icon.png"),
    await upload(`/printers/${id}/icon`, makePng(255, 256), "icon.png"),
    await upload(`/printers/${id}/icon`, broken, "icon.png"),
    await upload(`/printers/${id}/icon`, makePng(256, 256, rest + 1), "icon.png"),
    await upload(`/printers/${id}/icon`, makePng(256, 256, rest), "icon.png"),
    await upload("/printers/99/icon", makePng(), "icon.png"),
  ];

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [422, 422, 422, 413, 200, 404],
  );
  assert.match((await answers[1]?.text()) ?? "", /255 × 256 pixels/);
  assert.equal(app.undo.list().length, 1, "of the one that was replaced");
  assert.equal(readdirSync(join(dataDir, "icons")).length, 2);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
});
