import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp } from "./support/app.ts";
import { driverZip } from "./support/driver-zip.ts";
import { unpackers, verifyIntunewin, without } from "./support/foreign.ts";
import { bytesOf } from "./support/mixed-driver.ts";

/** A client “Müller” with three printers on two drivers, and one without a driver. */
async function appWithClient(t: TestContext): Promise<TestApp> {
  const app = await startApp(t);
  const { post, addDriver, addPrinter } = app;
  await post("/clients", { name: "Müller" });
  const one = await addDriver(driverZip({ models: ["One A", "One B"] }));
  const two = await addDriver(driverZip({ models: ["Two"], version: "2.0.0.0" }));
  await addPrinter({ name: "A", client_id: "1", driver_id: String(one) });
  await addPrinter({ name: "B", client_id: "1", driver_id: String(one), driver_desc: "One B" });
  await addPrinter({ name: "C", client_id: "1", driver_id: String(two) });
  await post("/printers", { name: "Without driver", client_id: "1", address: "10.0.0.1" });
  return app;
}

test("one package for all printers of a client has each driver once", async (t) => {
  const { fetch } = await appWithClient(t);

  const answer = await fetch("/clients/1/packages/rmm");
  const tree = unpackers.fflate(await bytesOf(answer));

  assert.match(answer.headers.get("content-disposition") ?? "", /filename="muller\.zip"/);
  assert.equal(Object.keys(tree).filter((name) => name.endsWith("papyrus.inf")).length, 2);
  const install = tree["install.ps1"]?.toString() ?? "";
  assert.deepEqual(
    [...install.matchAll(/^ {12}Name = '(.*)'\r$/gm)].map((match) => match[1]),
    ["A", "B", "C"],
  );
  assert.equal(install.match(/Folder = 'driver\\[0-9a-f]{12}'/g)?.length, 2);
});

test("the verifier accepts a client's package, which holds what the ZIP for RMM tools holds", {
  skip: without.verifier,
}, async (t) => {
  const { fetch } = await appWithClient(t);

  const answer = await fetch("/clients/1/packages/mdm");
  const tree = verifyIntunewin(await bytesOf(answer));
  const zip = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));

  assert.match(answer.headers.get("content-disposition") ?? "", /filename="muller\.intunewin"/);
  assert.deepEqual(tree, zip);
});

test("a client without a printer that can be deployed has no package", async (t) => {
  const { fetch, post } = await startApp(t);
  await post("/clients", { name: "Empty" });

  const answers = [
    await fetch("/clients/1/packages/rmm"),
    await fetch("/clients/9/packages/rmm"),
    await fetch("/clients/1/packages/xyz"),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [422, 404, 404],
  );
});
