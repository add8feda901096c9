import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { PackageFormat } from "../../src/pkg/formats/format.ts";
import { packageFormats } from "../../src/pkg/formats/formats.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { beginDownload, openFilesBelow } from "../support/audit/downloads.ts";
import { copyData } from "../support/copies.ts";
import { etagOf, textsOf } from "../support/deploy/answers.ts";
import { addLargeDriver } from "../support/deploy/large-driver.ts";
import { type Tree, unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import {
  appWithMixedDriver,
  bytesOf,
  expectedTree,
  withoutScripts,
} from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";
import { until } from "../support/until.ts";

/** Other programs that read packages, by file extension. */
const readers: Record<string, { readonly read: (bytes: Buffer) => Tree; readonly skip: string | false }> = {
  ".zip": { read: unpackers.fflate, skip: false },
  ".intunewin": { read: verifyIntunewin, skip: without.verifier },
};

async function addWithIcon({ addPrinter, upload }: TestApp): Promise<void> {
  await upload(`/printers/${await addPrinter()}/icon`, makePng(), "icon.png");
}

const withIcon = (t: TestContext) => startFilled(t, addWithIcon);

// Every format must keep the promises of the interface. A new format is tested without another line here.
for (const format of packageFormats)
  describe(`packages for ${format.target}`, () => conforms(format, `/printers/1/packages/${format.id}`));

function conforms(format: PackageFormat, path: string): void {
  test("have the size, type and name in the response to HEAD, and can be resumed where a download was interrupted", async (t) => {
    const { fetch } = await withIcon(t);

    const head = await fetch(path, { method: "HEAD" });
    const whole = await fetch(path);
    const bytes = await bytesOf(whole);
    const range = { range: "bytes=500-", "if-range": await etagOf(whole) };
    const rest = await fetch(path, { headers: range });

    assert.equal(head.headers.get("content-length"), String(bytes.length));
    for (const name of ["content-type", "etag", "content-disposition", "accept-ranges"])
      assert.equal(head.headers.get(name), whole.headers.get(name), name);
    assert.equal(whole.headers.get("content-type"), format.contentType);
    assert.equal(whole.headers.get("accept-ranges"), "bytes");
    assert.ok(whole.headers.get("content-disposition")?.includes(`"office${format.extension}"`));
    assert.equal(rest.status, 206);
    assert.ok((await bytesOf(rest)).equals(bytes.subarray(500)));
  });

  test("are the same bytes in a copy of the data folder, and have another ETag for other contents", async (t) => {
    const first = await withIcon(t);
    const before = await first.fetch(path);
    const bytes = await bytesOf(before);
    const dataDir = await temporaryFolder(t);
    await copyData(first.dataDir, dataDir);
    const copy = await startApp(t, { dataDir });

    const same = await copy.fetch(path);
    const sameBytes = await bytesOf(same);
    const fields = { name: "Office", address: "10.0.0.9", driver_id: "1", comment: "changed" };
    await copy.post("/printers/1", fields);
    const other = await copy.fetch(path);

    assert.ok(sameBytes.equals(bytes));
    assert.equal(await etagOf(same), await etagOf(before));
    assert.notEqual(await etagOf(other), await etagOf(before));
    assert.equal((await bytesOf(other)).equals(bytes), false);
  });

  test("leave no file open when the client disconnects", async (t) => {
    const { url, dataDir, fetch } = await startFilled(t, addLargeDriver);

    const download = await beginDownload(url + path);
    assert.ok(openFilesBelow(dataDir).length > 0);
    download.destroy();

    await until(() => openFilesBelow(dataDir).length === 0);
    assert.equal((await fetch("/health")).status, 200);
  });

  const reader = readers[format.extension];
  test("are opened by another program, which finds the scripts and the driver's files", {
    skip: reader?.skip ?? false,
  }, async (t) => {
    const { fetch, printer, upload } = await appWithMixedDriver(t);
    await upload(`/printers/${printer}/icon`, makePng(), "icon.png");

    assert.ok(reader, `no foreign reader of ${format.extension} is known to this test`);
    const tree = reader.read(await bytesOf(fetch(path)));

    const { "icon.png": icon, ...driver } = withoutScripts(tree);
    assert.deepEqual(icon, format.hasIcon ? makePng() : undefined);
    assert.ok(tree["install.ps1"] && tree["uninstall.ps1"] && tree["detect.ps1"]);
    assert.deepEqual(Object.keys(driver).sort(), Object.keys(expectedTree).sort());
    for (const [name, bytes] of Object.entries(expectedTree)) assert.ok(driver[name]?.equals(bytes), name);
  });

  test("are on every page that offers packages", async (t) => {
    const service = await startApp(t);
    await service.post("/clients", { name: "Müller" });
    await service.addPrinter({ client_id: "1" });

    const pages = await textsOf(service, ["/", "/packages", "/printers/1"]);
    const [client = ""] = await textsOf(service, ["/clients/1"]);

    for (const page of pages) assert.ok(page.includes(`href="${path}"`));
    assert.ok(client.includes(`href="/clients/1/packages/${format.id}"`));
  });
}
