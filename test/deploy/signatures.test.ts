import assert from "node:assert/strict";
import { createDecipheriv, createHash } from "node:crypto";
import { describe, test } from "node:test";
import { startApp, type TestApp } from "../support/app.ts";
import { isValid, sign } from "../support/deploy/authenticode.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { type Tree, unpackers, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";

interface Unsigned {
  readonly digest: string;
  readonly name: string;
  readonly records: readonly { readonly kind: string; readonly id: number }[];
}

async function unsigned({ fetch }: TestApp): Promise<Unsigned[]> {
  return (await (await fetch("/signatures")).json()) as Unsigned[];
}

const send = ({ fetch }: TestApp, digest: string, body: Uint8Array) =>
  fetch(`/signatures/${digest}`, { method: "POST", body: new Uint8Array(body) });

/** Signs all scripts, as sign.ps1 does. @returns how many */
async function signAll(service: TestApp): Promise<number> {
  const scripts = await unsigned(service);
  for (const { digest } of scripts) {
    const script = await bytesOf(service.fetch(`/signatures/${digest}`));
    assert.equal((await send(service, digest, sign(script))).status, 204);
  }
  return scripts.length;
}

async function startShop(t: Parameters<typeof startApp>[0], fields: Record<string, string> = {}) {
  const service = await startApp(t);
  await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6"] }));
  await service.post("/clients", { name: "Contoso" });
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
  test("a signed script is signed in the RMM ZIP, the app for Intune and the download; one flipped bit is refused", async (t) => {
    const { service, id } = await startShop(t, { name: "Büro 1", subnets: "10.1.0.0/16" });
    const before = await bytesOf(service.fetch(`/printers/${id}/scripts/detect`));

    const signed = await signAll(service);
    const rmm = unpackers.unzip(await bytesOf(service.fetch(`/printers/${id}/packages/rmm`)));
    const mdm = contentOf(await bytesOf(service.fetch(`/printers/${id}/packages/mdm`)));
    const detect = await bytesOf(service.fetch(`/printers/${id}/scripts/detect`));

    assert.ok(signed >= 8, `${signed}`);
    assert.deepEqual(await unsigned(service), []);
    for (const tree of [rmm, mdm]) {
      const scripts = Object.entries(tree).filter(([path]) => path.endsWith(".ps1"));
      assert.ok(scripts.length >= 3);
      for (const [path, bytes] of scripts) assert.ok(isValid(bytes), path);
      const flipped = Buffer.from(tree["install.ps1"] ?? "");
      flipped[2000] = (flipped[2000] ?? 0) ^ 1;
      assert.equal(isValid(flipped), false);
    }
    assert.ok(isValid(detect));
    assert.deepEqual(detect.subarray(0, before.length), before);
  });

  test("signing changes no revision, and a changed script is unsigned again and said to be", async (t) => {
    const { service, id } = await startShop(t);
    const page = async (path: string) => (await service.fetch(path)).text();
    const revisionOf = (text: string) => /Revision[\s\S]{0,200}?([0-9a-f]{12})/.exec(text)?.[1];
    const before = await page(`/printers/${id}`);

    await signAll(service);
    const after = await page(`/printers/${id}`);
    const dashboard = await page("/");
    await service.post(`/printers/${id}`, {
      name: "Office",
      address: "10.0.0.7",
      driver_id: "1",
      client_id: "1",
    });
    const changed = await page(`/printers/${id}`);

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
    const [first, second] = await unsigned(service);
    assert.ok(first && second);
    const script = await bytesOf(service.fetch(`/signatures/${first.digest}`));
    const signed = sign(script);
    const block = signed.subarray(script.length);
    const cut = signed.subarray(0, -200);
    const commanded = Buffer.concat([script, Buffer.from("\r\nRemove-Item C:\\ -Recurse\r\n"), block]);
    const wrongText = Buffer.from(signed);
    wrongText[100] = (wrongText[100] ?? 0) ^ 1;
    const large = Buffer.concat([script, Buffer.alloc(70_000, 0x23)]);
    const ofServer = sign(script, false);
    const withoutBreak = Buffer.concat([script, block.subarray(2)]);
    const emptied = Buffer.concat([
      script,
      Buffer.from("\r\n# SIG # Begin signature block\r\n# AAAA\r\n# SIG # End signature block\r\n"),
    ]);

    const statuses: Record<string, number> = {};
    for (const [name, digest, body] of [
      ["of another script", second.digest, signed],
      ["changed text", first.digest, wrongText],
      ["no block", first.digest, script],
      ["a cut block", first.digest, cut],
      ["a command before the block", first.digest, commanded],
      ["a command after the block", first.digest, Buffer.concat([signed, Buffer.from("exit 0\r\n")])],
      ["no signature in the block", first.digest, emptied],
      ["a large block", first.digest, large],
      ["a certificate that is not for code", first.digest, ofServer],
      ["no line break before the block", first.digest, withoutBreak],
      ["nothing", first.digest, Buffer.alloc(0)],
      ["an unknown script", "0".repeat(64), signed],
      ["no digest", "install", signed],
    ] as const)
      statuses[name] = (await send(service, digest, body)).status;

    assert.deepEqual(statuses, {
      "of another script": 409,
      "changed text": 409,
      "no block": 422,
      "a cut block": 422,
      "a command before the block": 422,
      "a command after the block": 422,
      "no signature in the block": 422,
      "a large block": 422,
      "a certificate that is not for code": 422,
      "no line break before the block": 422,
      nothing: 409,
      "an unknown script": 404,
      "no digest": 404,
    });
    assert.equal((await unsigned(service)).length >= 2, true);
    assert.equal(service.app.store.signatures.digests.size, 0);
  });

  test("a file that is larger than the script can be is refused with 413, and the service goes on", async (t) => {
    const { service } = await startShop(t);
    const [first] = await unsigned(service);
    assert.ok(first);
    const large = Buffer.alloc(2_000_000, 0x23);

    const raw = await send(service, first.digest, large);
    const form = await service.upload(`/signatures/${first.digest}`, large, "install.ps1");
    const cut = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(large));
        controller.close();
      },
    });
    const init = { method: "POST", body: cut, duplex: "half" } as RequestInit;
    const unannounced = await service.fetch(`/signatures/${first.digest}`, init);

    assert.deepEqual(
      [raw, form, unannounced].map(({ status }) => status),
      [413, 413, 413],
    );
    assert.equal((await service.fetch("/health")).status, 200);
    assert.equal(service.app.store.signatures.digests.size, 0);
  });

  test("the list names signed scripts too if it is asked for all, and a new signature replaces the old one", async (t) => {
    const { service } = await startShop(t);
    const count = await signAll(service);

    const all = (await (await service.fetch("/signatures?all=1")).json()) as Unsigned[];
    const digest = all[0]?.digest ?? "";
    const script = await bytesOf(service.fetch(`/signatures/${digest}`));
    const again = await send(service, digest, sign(script));

    assert.deepEqual([all.length, (await unsigned(service)).length, again.status], [count, 0, 204]);
    assert.equal(new Set(all.map(({ name }) => name)).size, count, "each script has a name of its own");
  });

  test("a form’s field takes the signed file too, and the list names the script and its records", async (t) => {
    const { service, id } = await startShop(t, { name: "Front desk" });
    const install = (await unsigned(service)).find(({ name }) => name.startsWith("install-front-desk"));
    assert.ok(install);
    const script = await bytesOf(service.fetch(`/signatures/${install.digest}`));

    const answer = await service.upload(`/signatures/${install.digest}`, sign(script), "install.ps1");
    const again = await service.fetch(`/signatures/${install.digest}`);

    assert.equal(createHash("sha256").update(script).digest("hex"), install.digest);
    assert.ok(install.records.some(({ kind, id: record }) => kind === "printer" && record === id));
    assert.equal(answer.status, 204);
    assert.deepEqual(await bytesOf(Promise.resolve(again)), script, "the script itself stays unsigned");
  });
});

test("sign.ps1 knows the service’s address, and its page is offered where all packages are", async (t) => {
  const { service } = await startShop(t);

  const script = (await bytesOf(service.fetch("/sign"))).toString();
  const page = await (await service.fetch("/packages")).text();

  assert.ok(script.includes(`Url = '${service.url}'`), script.slice(-3000));
  assert.match(page, /href="\/sign"/);
  assert.match(page, /href="\/publish"/);
});
