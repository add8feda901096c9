import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { packageFormats } from "../../src/pkg/formats/formats.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { isValid, sign } from "../support/deploy/authenticode.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";

interface Unsigned {
  readonly digest: string;
  readonly name: string;
  readonly records: readonly { readonly kind: string; readonly id: number }[];
}

/** The scripts without a signature; with `?all=1` all scripts. */
async function listed({ fetch }: TestApp, query = ""): Promise<Unsigned[]> {
  return (await (await fetch(`/signatures${query}`)).json()) as Unsigned[];
}

const send = ({ fetch }: TestApp, digest: string, body: Uint8Array) =>
  fetch(`/signatures/${digest}`, { method: "POST", body: new Uint8Array(body) });

async function signOne(service: TestApp, { digest }: Pick<Unsigned, "digest"> = { digest: "" }) {
  return send(service, digest, sign(await bytesOf(service.fetch(`/signatures/${digest}`))));
}

/** Signs all scripts, as sign.ps1 does. @returns how many */
async function signAll(service: TestApp): Promise<number> {
  const scripts = await listed(service);
  for (const script of scripts) assert.equal((await signOne(service, script)).status, 204);
  return scripts.length;
}

async function addShop({ addDriver, post }: TestApp): Promise<void> {
  await addDriver(driverZip({ models: ["Papyrus 100 PCL6"] }));
  await post("/clients", { name: "Contoso" });
}

async function startShop(t: TestContext, fields: Record<string, string> = {}) {
  const service = await startFilled(t, addShop);
  const id = await service.addPrinter({ driver_id: "1", client_id: "1", ...fields });
  return { service, id };
}

describe("signatures of scripts", { skip: without.osslsigncode || without.unzip || without.verifier }, () => {
  deepTest("a signed script is signed in the RMM ZIP, the app for Intune and the download", async (t) => {
    const { service, id } = await startShop(t, { name: "Büro 1", subnets: "10.1.0.0/16" });
    const get = (end: string) => bytesOf(service.fetch(`/printers/${id}/${end}`));
    const before = await get("scripts/detect");

    await signAll(service);
    const rmm = unpackers.unzip(await get("packages/rmm"));
    const mdm = verifyIntunewin(await get("packages/mdm"));
    const detect = await get("scripts/detect");

    for (const tree of [rmm, mdm])
      for (const kind of ["install", "uninstall", "detect"])
        assert.ok(isValid(tree[`${kind}.ps1`] ?? Buffer.alloc(0)), kind);
    assert.ok(isValid(detect));
    assert.deepEqual(detect.subarray(0, before.length), before);
  });

  test("signing changes no revision, and a changed script is unsigned again and said to be", async (t) => {
    const { service, id } = await startShop(t);
    const page = (path: string) => textOf(service.fetch(path));
    const revisionOf = (text: string) => /Revision[\s\S]{0,200}?([0-9a-f]{12})/.exec(text)?.[1];
    const fields = { name: "Office", address: "10.0.0.7", driver_id: "1", client_id: "1" };
    const before = await page(`/printers/${id}`);

    const count = await signAll(service);
    const [left, all] = [await listed(service), await listed(service, "?all=1")];
    const after = await page(`/printers/${id}`);
    const dashboard = await page("/");
    const again = await signOne(service, all[0]);
    await service.post(`/printers/${id}`, fields);
    const changed = await page(`/printers/${id}`);

    assert.deepEqual([all.length, left.length, again.status], [count, 0, 204]);
    assert.equal(new Set(all.map(({ name }) => name)).size, count, "each script has a name of its own");
    assert.doesNotMatch(JSON.stringify(all), /requirement/, "no app of a printer for all places has one");
    assert.ok(revisionOf(before));
    assert.equal(revisionOf(after), revisionOf(before));
    assert.doesNotMatch(before, /Signed by|Not signed/);
    assert.match(after, /Signed by <bdi>CN=Contoso IT<\/bdi>/);
    assert.doesNotMatch(dashboard, /without a signature/);
    assert.match(changed, /\d+ of \d+ scripts are new or changed since|Not signed/);
    assert.match(await page("/"), /scripts without a signature/);
    assert.match(await page("/clients/1"), /scripts are new or changed since|Not signed/);
  });

  test("an operator deletes all signatures on the page of all packages, which offers it only where there are some", async (t) => {
    const { service } = await startShop(t);
    const page = () => textOf(service.fetch("/packages"));
    const before = await page();
    await signOne(service, (await listed(service))[0]);

    const signed = await page();
    const answer = await service.post("/signatures/delete", {}, navigation);

    assert.doesNotMatch(before, /signatures\/delete/);
    assert.match(signed, /<form method="post" action="\/signatures\/delete"/);
    assert.deepEqual([answer.status, service.app.store.signatures.digests.size], [303, 0]);
    const done = await textOf(service.fetch(answer.headers.get("location") ?? ""));
    assert.match(done, /All signatures are deleted\./);
  });

  test("only the signature of exactly this script is taken, also in a form’s field, and no file larger than it can be", async (t) => {
    const { service, id } = await startShop(t, { name: "Front desk" });
    const scripts = await listed(service);
    const install = scripts.find(({ name }) => name.startsWith("install-front-desk"));
    assert.ok(install && scripts.length >= 2);
    const own = install.digest;
    const second = scripts.find(({ digest }) => digest !== own)?.digest;
    const path = `/signatures/${own}`;
    const script = await bytesOf(service.fetch(path));
    const signed = sign(script);
    const block = signed.subarray(script.length);
    const wrongText = Buffer.from(signed);
    wrongText[100] = (wrongText[100] ?? 0) ^ 1;
    const then = (...parts: (Buffer | string)[]) =>
      Buffer.concat([script, ...parts.map((part) => Buffer.from(part))]);
    const emptied = "\r\n# SIG # Begin signature block\r\n# AAAA\r\n# SIG # End signature block\r\n";
    const large = Buffer.alloc(2_000_000, 0x23);
    const init = { method: "POST", body: new Blob([large]).stream(), duplex: "half" } as RequestInit;

    for (const [what, status, body, digest = own] of [
      ["of another script", 409, signed, second],
      ["changed text", 409, wrongText],
      ["no block", 422, script],
      ["a cut block", 422, signed.subarray(0, -200)],
      ["a command before the block", 422, then("\r\nRemove-Item C:\\ -Recurse\r\n", block)],
      ["a command after the block", 422, then(block, "exit 0\r\n")],
      ["no signature in the block", 422, then(emptied)],
      ["a large block", 422, then(Buffer.alloc(70_000, 0x23))],
      ["a certificate that is not for code", 422, sign(script, false)],
      ["no line break before the block", 422, then(block.subarray(2))],
      ["nothing", 409, Buffer.alloc(0)],
      ["too large", 413, large],
      ["an unknown script", 404, signed, "0".repeat(64)],
      ["no digest", 404, signed, "install"],
    ] as const)
      assert.equal((await send(service, digest, body)).status, status, what);
    const [form, unannounced] = [await service.upload(path, large, "a.ps1"), await service.fetch(path, init)];
    const { size } = service.app.store.signatures.digests;
    const taken = await service.upload(path, signed, "install.ps1");

    assert.deepEqual([...statusesOf([form, unannounced, taken]), size], [413, 413, 204, 0]);
    assert.equal(createHash("sha256").update(script).digest("hex"), own);
    assert.ok(install.records.some(({ kind, id: record }) => kind === "printer" && record === id));
    assert.deepEqual(await bytesOf(service.fetch(path)), script, "the script itself stays unsigned");
  });

  test("of several signatures of a script at once, each is taken, and the last whole one stays", async (t) => {
    const { service, id } = await startShop(t, { name: "Front desk" });
    const [{ digest } = { digest: "" }] = await listed(service);
    const script = await bytesOf(service.fetch(`/signatures/${digest}`));
    const signed = ["", "b".repeat(100), "c".repeat(1000)].map((text) => sign(script, true, text));
    const folder = join(service.dataDir, "signatures");

    for (let round = 0; round < rounds(2, 20); round++) {
      const answers = await Promise.all(signed.map((body) => send(service, digest, body)));
      const log = readFileSync(join(service.dataDir, "audit", "2026-11.jsonl"), "utf8");

      assert.deepEqual(statusesOf(answers), [204, 204, 204]);
      assert.equal(
        log.match(/"signed"/g)?.length,
        3 * (round + 1),
        "the lines are written before the answers",
      );
      const [name = "", ...others] = readdirSync(folder);
      assert.deepEqual(others, []);
      const stored = Buffer.concat([script, readFileSync(join(folder, name))]);
      assert.ok(signed.some((whole) => whole.equals(stored)));
    }
    const zip = unpackers.unzip(await bytesOf(service.fetch(`/printers/${id}/packages/rmm`)));
    assert.ok(Object.values(zip).some((file) => signed.some((whole) => whole.equals(file))));
  });

  test("a signature of version 1.0 gets its digest at a start, and one that is no whole block is refused until it is signed again", async (t) => {
    const { service, id } = await startShop(t, { name: "Front desk" });
    const install = (await listed(service)).find(({ name }) => name === "install-front-desk.ps1");
    const folder = join(service.dataDir, "signatures");
    const path = `/printers/${id}/packages/rmm`;
    await signOne(service, install);
    await service.stop();
    const [name = ""] = readdirSync(folder);
    const old = join(folder, `${name.slice(0, 64)}.txt`);
    renameSync(join(folder, name), old);
    const second = await startApp(t, { dataDir: service.dataDir });
    const [renamed, sound] = [readdirSync(folder), await second.fetch(path)];
    await second.stop();
    renameSync(join(folder, name), old);
    truncateSync(old, 500);
    const third = await startApp(t, { dataDir: service.dataDir });
    const refused = await third.fetch(path);
    await signOne(third, install);

    assert.deepEqual(renamed, [name]);
    assert.deepEqual(statusesOf([sound, refused, await third.fetch(path)]), [200, 422, 200]);
    assert.deepEqual(
      readdirSync(folder).map((file) => file.slice(0, 65)),
      [name.slice(0, 65)],
    );
  });
});

test("the page of all packages links to them, to publish.ps1 and to sign.ps1, which knows the service’s address", async (t) => {
  const { service, id } = await startShop(t);

  const [script = "", page = ""] = await textsOf(service, ["/sign", "/packages"]);

  assert.ok(script.includes(`Url = '${service.url}'`), script.slice(-3000));
  for (const { id: format } of packageFormats)
    assert.ok(page.includes(`href="/printers/${id}/packages/${format}"`), format);
  for (const path of ["/sign", "/publish"]) assert.ok(page.includes(`href="${path}"`), path);
});
