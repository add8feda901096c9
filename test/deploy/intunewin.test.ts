import assert from "node:assert/strict";
import { createDecipheriv, createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { crc32, inflateRawSync } from "node:zlib";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { appWithMixedDriver, bytesOf, noise } from "../support/drivers/mixed-driver.ts";
import { makePicture, pngChunk } from "../support/printers/png.ts";

/** The local header of a file in a ZIP, and its content. */
function localHeaderAt(zip: Buffer, at: number) {
  assert.equal(zip.toString("latin1", at, at + 4), "PK\x03\x04");
  const [nameEnd, extraLength] = [at + 30 + zip.readUInt16LE(at + 26), zip.readUInt16LE(at + 28)];
  const [needed, flags, method, time, date] = [4, 6, 8, 10, 12].map((field) => zip.readUInt16LE(at + field));
  const [crc, packed = 0, size = 0] = [14, 18, 22].map((field) => zip.readUInt32LE(at + field));
  const end = nameEnd + extraLength + packed;
  return {
    fields: { needed, flags, method, time, date, crc, packed, size },
    name: zip.toString("utf8", at + 30, nameEnd),
    extra: zip.toString("hex", nameEnd, nameEnd + extraLength),
    data: zip.subarray(nameEnd + extraLength, end),
    end,
  };
}

test("the Intune package has the layout of Microsoft's tool byte by byte", async (t) => {
  const { fetch, printer } = await appWithMixedDriver(t);

  const outer = await bytesOf(fetch(`/printers/${printer}/packages/mdm`));

  const growthHint = `20a2180028a01400${"00".repeat(20)}`;
  const content = localHeaderAt(outer, 0);
  const payload = content.data;
  assert.equal(content.name, "IntuneWinPackage/Contents/IntunePackage.intunewin");
  assert.equal(content.extra, growthHint);
  const sizes = { packed: payload.length, size: payload.length };
  const plain = { needed: 10, flags: 0, method: 0, time: 0, date: 0x21 };
  assert.deepEqual(content.fields, { ...plain, crc: crc32(payload), ...sizes });
  const metadata = localHeaderAt(outer, content.end);
  const xml = metadata.data;
  assert.equal(metadata.name, "IntuneWinPackage/Metadata/Detection.xml");
  assert.equal(metadata.extra, growthHint);
  assert.deepEqual([metadata.fields.needed, metadata.fields.flags, metadata.fields.method], [10, 0, 0]);
  assert.equal(metadata.fields.crc, crc32(xml));

  const directoryAt = metadata.end;
  const shorts = (at: number, ...fields: number[]) => fields.map((field) => outer.readUInt16LE(at + field));
  assert.equal(outer.toString("latin1", directoryAt, directoryAt + 4), "PK\x01\x02");
  assert.deepEqual(shorts(directoryAt, 4, 6, 30, 32), [45, 10, 0, 0], "no extra, no comment");
  assert.equal(outer.readUInt32LE(directoryAt + 42), 0);
  const secondAt = directoryAt + 46 + content.name.length;
  assert.equal(outer.readUInt32LE(secondAt + 42), content.end);
  const endAt = secondAt + 46 + metadata.name.length;
  assert.equal(outer.toString("latin1", endAt, endAt + 4), "PK\x05\x06");
  assert.deepEqual([...shorts(endAt, 8, 10), outer.length], [2, 2, endAt + 22]);

  const text = xml.toString("utf8");
  const value = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? "";
  const bytes = (name: string) => Buffer.from(value(name), "base64");
  const decipher = createDecipheriv("aes-256-cbc", bytes("EncryptionKey"), bytes("InitializationVector"));
  const inner = Buffer.concat([decipher.update(payload.subarray(48)), decipher.final()]);
  const hmac = createHmac("sha256", bytes("MacKey")).update(payload.subarray(32)).digest();
  assert.deepEqual(payload.subarray(0, 32), hmac);
  assert.deepEqual(payload.subarray(32, 48), bytes("InitializationVector"));
  assert.equal(payload.length, 48 + (Math.floor(inner.length / 16) + 1) * 16);
  assert.equal(
    text,
    [
      '<ApplicationInfo xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ToolVersion="1.8.7.0">',
      "  <Name>install.ps1</Name>",
      `  <UnencryptedContentSize>${inner.length}</UnencryptedContentSize>`,
      "  <FileName>IntunePackage.intunewin</FileName>",
      "  <SetupFile>install.ps1</SetupFile>",
      "  <EncryptionInfo>",
      `    <EncryptionKey>${value("EncryptionKey")}</EncryptionKey>`,
      `    <MacKey>${value("MacKey")}</MacKey>`,
      `    <InitializationVector>${value("InitializationVector")}</InitializationVector>`,
      `    <Mac>${hmac.toString("base64")}</Mac>`,
      "    <ProfileIdentifier>ProfileVersion1</ProfileIdentifier>",
      `    <FileDigest>${createHash("sha256").update(inner).digest("base64")}</FileDigest>`,
      "    <FileDigestAlgorithm>SHA256</FileDigestAlgorithm>",
      "  </EncryptionInfo>",
      "</ApplicationInfo>",
    ].join("\r\n"),
  );

  let at = 0;
  const names: string[] = [];
  while (inner.toString("latin1", at, at + 4) === "PK\x03\x04") {
    const { fields, name, extra, data, end } = localHeaderAt(inner, at);
    const unpacked = fields.method === 8 ? inflateRawSync(data) : data;
    const { needed, flags, time, date } = fields;
    assert.deepEqual([needed, flags, time, date, extra], [20, 0x800, 0, 0x21, ""], name);
    assert.equal(fields.method, fields.size === 0 ? 0 : 8, name);
    assert.deepEqual([unpacked.length, crc32(unpacked)], [fields.size, fields.crc], name);
    names.push(name);
    at = end;
  }
  assert.deepEqual(names.slice(0, 3), ["driver/papyrus.inf", "driver/papyrus.cat", "driver/papyrus.dll"]);
  assert.deepEqual(names.slice(-3), ["install.ps1", "uninstall.ps1", "detect.ps1"]);
  assert.equal(inner.toString("latin1", at, at + 4), "PK\x01\x02");
  assert.deepEqual([inner.readUInt16LE(at + 4), inner.readUInt16LE(at + 6)], [20, 20]);
  assert.equal(inner.readUInt16LE(inner.length - 12), names.length);
});

test("the next package contains a new icon of the same size", { skip: without.verifier }, async (t) => {
  const { fetch, upload, addPrinter } = await startApp(t);
  const id = await addPrinter();
  const [old, changed] = ["a", "b"].map((text) =>
    makePicture({ before: [pngChunk("tEXt", Buffer.from(text))] }),
  ) as [Buffer, Buffer];

  await upload(`/printers/${id}/icon`, old, "icon.png");
  await bytesOf(fetch(`/printers/${id}/packages/mdm`));
  await upload(`/printers/${id}/icon`, changed, "icon.png");
  const packed = verifyIntunewin(await bytesOf(fetch(`/printers/${id}/packages/mdm`)));

  assert.equal(old.length, changed.length);
  assert.deepEqual(packed["icon.png"], changed);
});

test("packages of one driver begin with the same bytes; two drivers and two installations share no key", async (t) => {
  const { fetch, addDriver, addPrinter } = await startApp(t);
  const large = driverZip({ extra: [{ name: "large.bin", bytes: noise, method: 0 }] });
  const other = driverZip({ extra: [{ name: "larger.bin", bytes: noise, method: 0 }] });
  const driver_id = String(await addDriver(large));
  const ids = [
    await addPrinter({ driver_id }),
    await addPrinter({ driver_id, name: "Hall", comment: "another one" }),
    await addPrinter({ driver_id: String(await addDriver(other)) }),
  ];

  const packages = await Promise.all(ids.map((id) => bytesOf(fetch(`/printers/${id}/packages/mdm`))));
  const elsewhere = await startApp(t);
  await elsewhere.addPrinter({ driver_id: String(await elsewhere.addDriver(large)) });
  packages.push(await bytesOf(elsewhere.fetch("/printers/1/packages/mdm")));

  const keys = packages.map((bytes) => /<EncryptionKey>(.*?)</.exec(bytes.toString("latin1"))?.[1]);
  const ciphertext = packages.map((bytes) => bytes.subarray(200, 200 + noise.length));
  assert.ok(keys[0] && ciphertext[0]?.equals(ciphertext[1] ?? Buffer.alloc(0)));
  assert.equal(keys[0], keys[1]);
  assert.equal(new Set(keys).size, 3);
  assert.equal(ciphertext[0]?.equals(ciphertext[2] ?? Buffer.alloc(0)), false);
});
