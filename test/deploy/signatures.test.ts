import assert from "node:assert/strict";
import { createDecipheriv, createHash } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import type { TestApp } from "../support/app.ts";
import { statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { isValid, sign } from "../support/deploy/authenticode.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { type Tree, unpackers, without } from "../support/drivers/foreign.ts";
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

/** Signs the scripts with these names, as sign.ps1 does. @returns how many */
async function signAll(service: TestApp, names = /./): Promise<number> {
  const scripts = (await listed(service)).filter(({ name }) => names.test(name));
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

/** The files inside an app for Intune. */
function contentOf(intunewin: Buffer): Tree {
  const outer = unpackers.unzip(intunewin);
  const xml = String(outer["IntuneWinPackage/Metadata/Detection.xml"]);
  const value = (name: string) => Buffer.from(new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1] ?? "", "base64");
  const encrypted = outer["IntuneWinPackage/Contents/IntunePackage.intunewin"] ?? Buffer.alloc(0);
  const decipher = createDecipheriv("aes-256-cbc", value("EncryptionKey"), value("InitializationVector"));
  return unpackers.unzip(Buffer.concat([decipher.update(encrypted.subarray(48)), decipher.final()]));
}

describe("signatures of scripts", { skip: without.osslsigncode || without.unzip }, () => {
  deepTest(
    "a signed script is signed in the RMM ZIP, the app for Intune and the download; one flipped bit is refused",
    async (t) => {
      const { service, id } = await startShop(t, { name: "Büro 1", subnets: "10.1.0.0/16" });
      const get = (end: string) => bytesOf(service.fetch(`/printers/${id}/${end}`));
      const before = await get("scripts/detect");

      const signed = await signAll(service, /^(?!.*(?:contoso|papyrus)).*(?:detect|install)/);
      const rmm = unpackers.unzip(await get("packages/rmm"));
      const mdm = contentOf(await get("packages/mdm"));
      const detect = await get("scripts/detect");

      assert.ok(signed >= 3, `${signed}`);
      for (const tree of [rmm, mdm]) {
        const scripts = Object.entries(tree).filter(([path]) => path.endsWith(".ps1"));
        assert.ok(scripts.length >= 3);
        for (const [path, bytes] of selectCases(scripts, 1)) assert.ok(isValid(bytes), path);
        for (const [path, bytes] of scripts) assert.match(String(bytes), /# SIG # End/, path);
      }
      const flipped = Buffer.from(rmm["install.ps1"] ?? "");
      flipped[2000] = (flipped[2000] ?? 0) ^ 1;
      assert.equal(isValid(flipped), false);
      assert.ok(isValid(detect));
      assert.deepEqual(detect.subarray(0, before.length), before);
    },
  );

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
    assert.ok(revisionOf(before));
    assert.equal(revisionOf(after), revisionOf(before));
    assert.doesNotMatch(before, /Signed by|Not signed/);
    assert.match(after, /Signed by <bdi>CN=Contoso IT<\/bdi>/);
    assert.doesNotMatch(dashboard, /without a signature/);
    assert.match(changed, /\d+ of \d+ scripts are new or changed since|Not signed/);
    assert.match(await page("/"), /scripts without a signature/);
    assert.match(await page("/clients/1"), /scripts are new or changed since|Not signed/);
  });

  test("only the signature of exactly this script is taken", async (t) => {
    const { service } = await startShop(t);
    const [first, second] = await listed(service);
    assert.ok(first && second);
    const own: string = first.digest;
    const script = await bytesOf(service.fetch(`/signatures/${own}`));
    const signed = sign(script);
    const block = signed.subarray(script.length);
    const wrongText = Buffer.from(signed);
    wrongText[100] = (wrongText[100] ?? 0) ^ 1;
    const then = (...parts: (Buffer | string)[]) =>
      Buffer.concat([script, ...parts.map((part) => Buffer.from(part))]);
    const emptied = "\r\n# SIG # Begin signature block\r\n# AAAA\r\n# SIG # End signature block\r\n";

    const cases: readonly [string, number, Uint8Array, string?][] = [
      ["of another script", 409, signed, second.digest],
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
      ["an unknown script", 404, signed, "0".repeat(64)],
      ["no digest", 404, signed, "install"],
    ];

    for (const [what, status, body, digest = own] of cases)
      assert.equal((await send(service, digest, body)).status, status, what);

    assert.equal((await listed(service)).length >= 2, true);
    assert.equal(service.app.store.signatures.digests.size, 0);
  });

  test("a file that is larger than the script can be is refused with 413, and the service goes on", async (t) => {
    const { service } = await startShop(t);
    const [first] = await listed(service);
    const digest = first?.digest ?? "";
    const large = Buffer.alloc(2_000_000, 0x23);
    const cut = new Blob([large]).stream();

    const raw = await send(service, digest, large);
    const form = await service.upload(`/signatures/${digest}`, large, "install.ps1");
    const init = { method: "POST", body: cut, duplex: "half" } as RequestInit;
    const unannounced = await service.fetch(`/signatures/${digest}`, init);

    assert.deepEqual(statusesOf([raw, form, unannounced]), [413, 413, 413]);
    assert.equal((await service.fetch("/health")).status, 200);
    assert.equal(service.app.store.signatures.digests.size, 0);
  });

  test("a form’s field takes the signed file too, and the list names the script and its records", async (t) => {
    const { service, id } = await startShop(t, { name: "Front desk" });
    const install = (await listed(service)).find(({ name }) => name.startsWith("install-front-desk"));
    assert.ok(install);
    const path = `/signatures/${install.digest}`;
    const script = await bytesOf(service.fetch(path));

    const answer = await service.upload(path, sign(script), "install.ps1");

    assert.equal(createHash("sha256").update(script).digest("hex"), install.digest);
    assert.ok(install.records.some(({ kind, id: record }) => kind === "printer" && record === id));
    assert.equal(answer.status, 204);
    assert.deepEqual(await bytesOf(service.fetch(path)), script, "the script itself stays unsigned");
  });
});

test("sign.ps1 knows the service’s address, and its page is offered where all packages are", async (t) => {
  const { service } = await startShop(t);

  const [script = "", page = ""] = await textsOf(service, ["/sign", "/packages"]);

  assert.ok(script.includes(`Url = '${service.url}'`), script.slice(-3000));
  assert.match(page, /href="\/sign"/);
  assert.match(page, /href="\/publish"/);
});
