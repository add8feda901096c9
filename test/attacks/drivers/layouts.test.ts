import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { unpackers } from "../../support/drivers/foreign.ts";
import { filesInf } from "../../support/drivers/inf.ts";
import { bytesOf } from "../../support/drivers/mixed-driver.ts";
import { makeZip, type ZipPart } from "../../support/drivers/zip.ts";
import { assertWithin, longestBlock } from "../../support/times.ts";

function driverOfManyFiles(count: number, seed = 0): Buffer {
  const extra = Array.from({ length: count - 3 }, (_, i) => ({
    name: `a folder with a name/and another/file-${seed}-${i}.bin`,
    bytes: "x",
    method: 0,
  }));
  return driverZip({ extra });
}

const drop = { drop_unused: "on" };
/** Starts the service with a driver whose packages leave out unused files. */
async function startWith(t: TestContext, archive: Buffer) {
  const app = await startApp(t);
  const driver = await app.addDriver(archive);
  await app.post(`/drivers/${driver}`, drop);
  const names = async () =>
    Object.keys(unpackers.fflate(await bytesOf(app.fetch(`/drivers/${driver}/files`)))).sort();
  return { ...app, driver, names };
}

deepTest("three used files among sixty thousand are found without blocking other requests", async (t) => {
  const { fetch, post, names, driver } = await startWith(t, driverOfManyFiles(60_000));
  const statuses: number[] = [];
  const blocks: number[] = [];

  for (const fields of [drop, {}, drop]) {
    const block = await longestBlock(async () => {
      await post(`/drivers/${driver}`, fields);
      const head = await fetch(`/drivers/${driver}/files`, { method: "HEAD" });
      const range = await fetch(`/drivers/${driver}/files`, { headers: { range: "bytes=0-99" } });
      await range.arrayBuffer();
      statuses.push(head.status, range.status);
    });
    blocks.push(block);
  }

  assert.deepEqual([...new Set(statuses)].sort(), [200, 206]);
  assert.deepEqual(await names(), ["papyrus.cat", "papyrus.dll", "papyrus.inf"]);
  // The best of three runs must stay under 50 ms, so that garbage collections do not count.
  t.diagnostic(`longest blocks: ${blocks.map((block) => block.toFixed(1)).join(", ")} ms`);
  await assertWithin(50, { blocked: Math.min(...blocks) });
});

deepTest("two drivers that are too large for one package fit without their unused files", async (t) => {
  const { addDriver, addPrinter, post, fetch } = await startApp(t);
  await post("/clients", { name: "Large" });
  for (let i = 0; i < 2; i++) {
    const driver_id = String(await addDriver(driverOfManyFiles(33_000 + i, i)));
    await addPrinter({ name: `Printer ${i}`, client_id: "1", driver_id });
  }

  const before = await fetch("/clients/1/packages/rmm", { method: "HEAD" });
  await post("/drivers/1", drop);
  await post("/drivers/2", drop);
  const after = await fetch("/clients/1/packages/rmm", { method: "HEAD" });

  assert.deepEqual([before.status, after.status], [422, 200]);
});

test("five hundred INFs that copy each other are read once each", async (t) => {
  const name = (i: number) => `${i % 500}.inf`;
  const inf = (i: number) =>
    filesInf(
      `[Inst]\nCopyFiles=@${i}.dll\nCopyINF=${[1, 7, 100].map((offset) => name(i + offset)).join(",")}`,
      "",
    );
  const parts = Array.from({ length: 500 }, (_, i): ZipPart => ({ name: name(i), bytes: inf(i) }));
  const files = Array.from({ length: 501 }, (_, i): ZipPart => ({ name: `${i}.dll` }));
  const { names } = await startWith(t, makeZip([...parts, { name: "a.cat" }, ...files]));

  const found = await names();

  assert.equal(found.length, 1001);
  assert.ok(!found.includes("500.dll"));
});

test("an INF that uses no files is packed alone, and the scripts use its path", async (t) => {
  const inf = '[Version]\nClass=Printer\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"A"=Nowhere\n';
  const dead = Array.from({ length: 50 }, (_, i): ZipPart => ({ name: `${i}.dll`, bytes: `${i}` }));
  const { names, addPrinter, fetch, driver } = await startWith(
    t,
    makeZip([{ name: "x/a.inf", bytes: inf }, ...dead]),
  );
  const id = await addPrinter({ driver_id: String(driver) });

  const script = await (await fetch(`/printers/${id}/scripts/install`)).text();

  assert.deepEqual(await names(), ["x/a.inf"]);
  assert.match(script, /Inf = 'x\\a\.inf'/);
});

deepTest("only the directories of cabinets are unpacked", async (t) => {
  const cabinets = Array.from({ length: 60 }, (_, i): ZipPart => {
    const bytes = Buffer.alloc(4 << 20);
    bytes.write(`MSCF${i}`);
    return { name: `${i}.cab`, bytes };
  });
  const { fetch, names, driver } = await startWith(t, driverZip({ extra: cabinets }));
  const started = performance.now();

  const answer = await fetch(`/drivers/${driver}/files`, { method: "HEAD" });

  t.diagnostic(`${(performance.now() - started).toFixed(0)} ms`);
  assert.equal(answer.status, 200);
  assert.deepEqual(await names(), ["papyrus.cat", "papyrus.dll", "papyrus.inf"]);
});
