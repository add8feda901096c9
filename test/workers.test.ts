import assert from "node:assert/strict";
import { test } from "node:test";
import { deriveKeys } from "../src/pkg/formats/encryption.ts";
import { intune } from "../src/pkg/formats/intune.ts";
import { StoredPackageContext } from "../src/services/deploy/package-context.ts";
import { Quota, WorkQueue } from "../src/workers/admission.ts";
import { Workers } from "../src/workers/pool.ts";
import { prefetch } from "../src/workers/prefetch.ts";
import { bundle, startApp, type TestApp } from "./support/app.ts";
import { deepTest } from "./support/depth.ts";
import { driverZip } from "./support/drivers/driver-zip.ts";
import { verifyIntunewin, without } from "./support/drivers/foreign.ts";
import { bytesOf, noise } from "./support/drivers/mixed-driver.ts";
import { makePng } from "./support/printers/png.ts";
import { until } from "./support/until.ts";

/** A driver that is encrypted in several chunks. */
function largeDriver(): Buffer {
  const bytes = Buffer.concat(Array.from({ length: 10 }, () => noise));
  return driverZip({ extra: [{ name: "large.bin", bytes, method: 0 }] });
}

/** Returns a function that gives the number of prefixes encrypted since this call. */
function countPrefixes({ app: { workers } }: TestApp): () => number {
  const { encryptPrefix } = workers;
  let count = 0;
  workers.encryptPrefix = async (prefix) => {
    const encrypted = await encryptPrefix.call(workers, prefix);
    count++;
    return encrypted;
  };
  return () => count;
}

deepTest(
  "a driver is encrypted once after its upload, and not again for any printer, with or without an icon",
  async (t) => {
    const app = await startApp(t, { workers: "own" });
    const prefixes = countPrefixes(app);
    const driver_id = String(await app.addDriver(largeDriver()));
    await until(() => prefixes() === 1);

    for (const name of ["Office", "Hall", "Store"]) {
      const id = await app.addPrinter({ name, driver_id });
      if (name === "Hall") await app.upload(`/printers/${id}/icon`, makePng(), "icon.png");
      await bytesOf(app.fetch(`/printers/${id}/packages/mdm`));
    }

    assert.equal(prefixes(), 1);
  },
);

deepTest("packages are complete although a digest thread ended", { skip: without.verifier }, async (t) => {
  const app = await startApp(t, { workers: "own" });
  const driver_id = String(await app.addDriver(largeDriver()));
  const first = await app.addPrinter({ driver_id });
  await bytesOf(app.fetch(`/printers/${first}/packages/mdm`));
  const second = await app.addPrinter({ name: "Hall", driver_id });

  await app.app.workers.endThreads();
  const tree = verifyIntunewin(await bytesOf(app.fetch(`/printers/${second}/packages/mdm`)));

  assert.equal(tree["driver/large.bin"]?.length, 10 * noise.length);
});

deepTest(
  "packages without a driver share neither keys nor digests",
  { skip: without.verifier },
  async (t) => {
    const { app } = await startApp(t);
    const context = new StoredPackageContext(app.store, app.workers);
    const settings = (name: string) => JSON.stringify({ LogName: name, Drivers: [], Printers: [] });

    for (const name of ["one", "two"]) {
      const file = await intune.build({ drivers: [], settings: settings(name), icon: undefined }, context);
      const open = await file.open();
      const chunks: Uint8Array[] = [];
      for await (const chunk of open.chunks(0, file.size)) chunks.push(Uint8Array.from(chunk));
      await open.close();

      const tree = verifyIntunewin(Buffer.concat(chunks));
      assert.deepEqual(Object.keys(tree).sort(), ["detect.ps1", "install.ps1", "uninstall.ps1"]);
    }
  },
);

test("an encryption with a missing source fails at once", async (t) => {
  const workers = new Workers(bundle);
  t.after(() => workers.close());
  const literals = new Uint8Array();
  const table = Float64Array.of(0, 0, 0, 2_000_000);
  const layout = { size: 2_000_000, parts: [{ size: 2_000_000, literals, table }] };
  const keys = deriveKeys(Buffer.alloc(32), Buffer.alloc(32));

  const work = workers.encryptPrefix({ layout, files: [], keys, size: 1_999_984, name: "a file" });

  await assert.rejects(work, /source 0, which is not there/);
});

test("closed workers start no thread", async () => {
  const workers = new Workers(bundle);

  await workers.close();

  await assert.rejects(workers.verify({ descriptor: 0, size: 0 }), { code: "busy" });
});

test("two tasks run, two wait in order, and a fifth is refused", async () => {
  const admission = new WorkQueue(2, new Quota(4, "tasks run"));
  const order: number[] = [];
  const ends: (() => void)[] = [];
  const task = (i: number) => () => {
    order.push(i);
    return new Promise<void>((end) => ends.push(end));
  };

  const tasks = [1, 2, 3, 4].map((i) => admission.run(task(i)));
  await assert.rejects(admission.run(task(5)), { code: "busy" });
  assert.deepEqual(order, [1, 2]);
  for (let i = 0; i < 4; i++) {
    await until(() => ends.length > i);
    ends[i]?.();
  }
  await Promise.all(tasks);

  assert.deepEqual(order, [1, 2, 3, 4]);
});

test("tasks with priority run before the others, and each group runs in order", async () => {
  const admission = new WorkQueue(1);
  const order: string[] = [];
  const run = (name: string, isFirst: boolean) =>
    admission.run(async () => void order.push(name), undefined, isFirst);

  await Promise.all([run("a", false), run("b", false), run("c", true), run("d", false), run("e", true)]);

  assert.deepEqual(order, ["a", "c", "e", "b", "d"]);
});

test("prefetch returns chunks in order and uses only two buffers, whichever is ready first", async () => {
  let buffers = 0;
  const make = async (i: number, buffer: Uint8Array) => {
    await new Promise((resolve) => setTimeout(resolve, i % 2 === 0 ? 3 : 0));
    buffer[0] = i;
    return buffer;
  };
  const buffer = () => {
    buffers++;
    return new Uint8Array(1);
  };

  const found: (number | undefined)[] = [];
  for await (const [value] of prefetch({ count: 7, buffer, make })) found.push(value);

  assert.deepEqual(found, [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(buffers, 2);
});

test("prefetch throws a chunk's error, and leaves nothing running when the reader stops early", async () => {
  let running = 0;
  const make = async (i: number, buffer: Uint8Array) => {
    running++;
    await new Promise((resolve) => setTimeout(resolve, 2));
    running--;
    if (i === 3) throw new Error("the third failed");
    return buffer;
  };
  const pieces = () => prefetch({ count: 9, buffer: () => new Uint8Array(1), make });
  const all = async () => {
    for await (const piece of pieces()) assert.equal(piece.length, 1);
  };

  await assert.rejects(all, /the third failed/);
  const afterFailure = running;
  for await (const piece of pieces()) {
    assert.equal(piece.length, 1);
    break;
  }

  assert.deepEqual([afterFailure, running], [0, 0]);
});

deepTest(
  "a package of all printers of a client is refused if its text is too large, and a large one is possible",
  async (t) => {
    const { app, fetch, post, addPrinter } = await startApp(t, { workers: "own" });
    await post("/clients", { name: "Large" });
    await post("/clients", { name: "Too large" });
    const { printer } = app.store.printers.get(await addPrinter());
    const replaces = Array.from({ length: 1000 }, (_, i) => `Drücker ${i}`);
    const add = (client_id: number, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, i) =>
          app.store.printers.add({ ...printer, name: `Printer ${i}`, client_id, replaces }),
        ),
      );
    await add(1, 120);
    await add(2, 160);

    const large = await fetch("/clients/1/packages/mdm", { method: "HEAD" });
    const tooLarge = await fetch("/clients/2/packages/mdm", { method: "HEAD" });
    const reason = await (await fetch("/clients/2/packages/rmm")).text();

    assert.deepEqual([large.status, tooLarge.status], [200, 422]);
    assert.match(reason, /too large for one package/);
  },
);
