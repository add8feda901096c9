import assert from "node:assert/strict";
import { test } from "node:test";
import { unzipSync } from "fflate";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

test("scripts answer 404 without a printer and 422 without a driver", async (t) => {
  const { fetch, post } = await startApp(t);
  await post("/printers", { name: "Bare", address: "10.0.0.1" });

  for (const kind of ["install", "uninstall", "detect", "diagnose"]) {
    assert.equal((await fetch(`/printers/99/scripts/${kind}`)).status, 404);
    assert.equal((await fetch(`/printers/abc/scripts/${kind}`)).status, 404);
    assert.equal((await fetch(`/printers/1/scripts/${kind}`)).status, 422);
  }
  for (const format of ["rmm", "mdm"]) {
    assert.equal((await fetch(`/printers/99/packages/${format}`)).status, 404);
    assert.equal((await fetch(`/printers/1/packages/${format}`)).status, 422);
  }
  assert.equal((await fetch("/printers/1/scripts/other")).status, 404);
});

test("scripts and packages are attachments with safe names, a length and an ETag", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  await post("/clients", { name: "Ärzte & Söhne" });
  const id = await addPrinter({ name: "Büro “1” / Süd", client_id: "1" });
  const expected = {
    "scripts/install": "install-buro-1-sud.ps1",
    "scripts/uninstall": "uninstall-buro-1-sud.ps1",
    "scripts/detect": "detect-buro-1-sud.ps1",
    "scripts/diagnose": "diagnose-buro-1-sud.ps1",
    "packages/rmm": "arzte-sohne-buro-1-sud.zip",
    "packages/mdm": "arzte-sohne-buro-1-sud.intunewin",
  };

  for (const [path, name] of Object.entries(expected)) {
    const answer = await fetch(`/printers/${id}/${path}`);
    const bytes = await answer.arrayBuffer();
    assert.equal(answer.status, 200);
    assert.equal(
      answer.headers.get("content-disposition"),
      `attachment; filename="${name}"; filename*=UTF-8''${name}`,
    );
    assert.equal(Number(answer.headers.get("content-length")), bytes.byteLength);
    assert.equal(answer.headers.get("accept-ranges"), "bytes");
    assert.match(answer.headers.get("etag") ?? "", /^"[^"]+"$/);
  }
});

test("hostile descriptions appear unchanged and harmless in page, script and package", async (t) => {
  const { addDriver, addPrinter, fetch } = await startApp(t);
  const descriptions = ["O'Brien ’x’ $(calc) `n", "<script>alert(1)</script>", "x".repeat(260), 'say ""hi""'];
  for (const description of descriptions) {
    const driver = await addDriver(driverZip({ models: [description.replaceAll('""', '"')] }));
    const printer = await addPrinter({ driver_id: String(driver) });

    const page = await (await fetch(`/drivers/${driver}`)).text();
    const script = await (await fetch(`/printers/${printer}/scripts/install`)).text();
    const zip = unzipSync(
      new Uint8Array(await (await fetch(`/printers/${printer}/packages/rmm`)).arrayBuffer()),
    );

    const literal = `'${description.replaceAll('""', '"').replace(/['’]/g, "$&$&")}'`;
    assert.doesNotMatch(page, /<script>alert|\u202e/);
    assert.ok(script.includes(`DriverName = ${literal}`), description.slice(0, 40));
    assert.ok(
      Buffer.from(zip["install.ps1"] ?? [])
        .toString()
        .includes(`DriverName = ${literal}`),
    );
  }
});
