import assert from "node:assert/strict";
import { createDecipheriv, createHash, createHmac } from "node:crypto";
import { readdirSync, readFileSync, truncateSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { crc32, inflateRawSync } from "node:zlib";
import { crc32Combine } from "../src/pkg/zip/crc32.ts";
import { startApp, type TestApp, temporaryFolder } from "./support/app.ts";
import { openFilesBelow } from "./support/downloads.ts";
import { driverZip, printerInf } from "./support/driver-zip.ts";
import { type Tree, unpackers, verifyIntunewin, without } from "./support/foreign.ts";
import { makePng } from "./support/png.ts";
import { makeSharedZip, withoutShared } from "./support/shared.ts";
import { until } from "./support/until.ts";
import { makeZip } from "./support/zip.ts";

async function bytesOf(answer: Response | Promise<Response>): Promise<Buffer> {
  return Buffer.from(await (await answer).arrayBuffer());
}

const noise = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * i * 7919) >> 3));

/** A driver archive with every kind of entry that vendors' tools write. */
const mixedFiles: Tree = {
  "papyrus.inf": Buffer.from(printerInf()),
  "papyrus.cat": Buffer.from("catalog"),
  "papyrus.dll": Buffer.from("the bytes of papyrus.dll"),
  "stored.bin": noise,
  "described.bin": Buffer.from("x".repeat(100_000)),
  "zip64.bin": Buffer.from("large sizes"),
  "empty.txt": Buffer.alloc(0),
  "Unterordner mit ä/Datei ö ß.txt": Buffer.from("umlauts and blanks"),
  "ordner/B\u00fcro.txt": Buffer.from("a CP437 name"),
};

function mixedZip(): Buffer {
  const parts = Object.entries(mixedFiles).map(([name, bytes]) => ({ name, bytes }));
  return makeZip([
    ...parts.slice(0, 3),
    { name: "stored.bin", bytes: noise, method: 0 },
    { name: "described.bin", bytes: mixedFiles["described.bin"] ?? "", withDescriptor: true },
    { name: "zip64.bin", bytes: mixedFiles["zip64.bin"] ?? "", withZip64: true },
    { name: "empty.txt" },
    { name: "leer/", method: 0 },
    ...parts.slice(7, 8),
    { name: "", rawName: Buffer.from("ordner\\B\x81ro.txt", "latin1"), bytes: "a CP437 name" },
  ]);
}

/** The scripts as their own addresses give them inside packages, and the driver's files below driver/. */
function withoutScripts(tree: Tree): Tree {
  return Object.fromEntries(
    Object.entries(tree).filter(([name]) => !/^(?:install|uninstall|detect)\.ps1$/.test(name)),
  );
}

const expectedTree: Tree = Object.fromEntries(
  Object.entries(mixedFiles).map(([name, bytes]) => [`driver/${name}`, bytes]),
);

async function appWithMixedDriver(t: TestContext): Promise<TestApp & { printer: number }> {
  const app = await startApp(t);
  const driver = await app.addDriver(mixedZip());
  const printer = await app.addPrinter({ driver_id: String(driver), name: "Büro" });
  return { ...app, printer };
}

describe("other people's tools open the packages", () => {
  for (const [name, unpack] of Object.entries(unpackers)) {
    const skip = name in without ? without[name as keyof typeof without] : false;
    test(`${name} finds the driver's files and the scripts, byte by byte`, { skip }, async (t) => {
      const { fetch, printer } = await appWithMixedDriver(t);

      const tree = unpack(await bytesOf(fetch(`/printers/${printer}/packages/rmm`)));

      assert.deepEqual(Object.keys(withoutScripts(tree)).sort(), Object.keys(expectedTree).sort());
      for (const [path, bytes] of Object.entries(expectedTree)) assert.ok(tree[path]?.equals(bytes), path);
      assert.match(tree["install.ps1"]?.toString() ?? "", /Name = 'Büro'/);
      assert.doesNotMatch(tree["install.ps1"]?.toString() ?? "", /https?:/);
      assert.ok(tree["uninstall.ps1"] && tree["detect.ps1"]);
    });
  }

  for (const [name, unpack] of Object.entries(unpackers)) {
    const skip = name in without ? without[name as keyof typeof without] : false;
    test(`${name} finds a driver's files as packages hold them, of two that differ by case the later`, {
      skip,
    }, async (t) => {
      const { fetch, addDriver } = await startApp(t);
      const twins = [
        { name: "Readme.txt", bytes: "the earlier one" },
        { name: "README.TXT", bytes: "the later one" },
        { name: "", rawName: Buffer.from("Ordner\\Gr\x94\xe1e.txt", "latin1"), bytes: "a CP437 name" },
      ];
      const driver = await addDriver(driverZip({ extra: twins }));

      const answer = await fetch(`/drivers/${driver}/files`);
      const tree = unpack(await bytesOf(answer));

      const names = ["Ordner/Größe.txt", "README.TXT", "papyrus.cat", "papyrus.dll", "papyrus.inf"];
      assert.deepEqual(Object.keys(tree).sort(), names);
      assert.equal(tree["README.TXT"]?.toString(), "the later one");
      assert.equal(tree["Ordner/Größe.txt"]?.toString(), "a CP437 name");
      assert.match(answer.headers.get("content-disposition") ?? "", /filename="driver-files\.zip"/);
      assert.equal(answer.headers.get("content-type"), "application/zip");
    });
  }

  test("the verifier accepts the Intune package, with the icon inside", {
    skip: without.verifier,
  }, async (t) => {
    const { fetch, upload, printer } = await appWithMixedDriver(t);
    await upload(`/printers/${printer}/icon`, makePng(), "icon.png");

    const tree = verifyIntunewin(await bytesOf(fetch(`/printers/${printer}/packages/mdm`)));

    const { "icon.png": icon, ...rest } = withoutScripts(tree);
    assert.deepEqual(icon, makePng());
    assert.deepEqual(Object.keys(rest).sort(), Object.keys(expectedTree).sort());
    for (const [path, bytes] of Object.entries(expectedTree)) assert.ok(rest[path]?.equals(bytes), path);
  });

  const six = [
    "xerox-gpd-ps",
    "hp-upd-pcl6-701",
    "kyocera-5054ci",
    "ricoh-imc3500",
    "epson-et-multi",
    "konica-c257i",
  ];
  test("the verifier accepts packages of six vendors' drivers", { skip: without.verifier }, async (t) => {
    const { fetch, addDriver, addPrinter } = await startApp(t);
    const folder = await temporaryFolder(t);
    for (const name of six) {
      const zip = join(folder, `${name}.zip`);
      await makeSharedZip(name, zip, "--scale", "0.05", "--prefix", "Vendor Driver/");
      const source = readFileSync(zip);
      const printer = await addPrinter({ name, driver_id: String(await addDriver(source)) });

      const tree = verifyIntunewin(await bytesOf(fetch(`/printers/${printer}/packages/mdm`)));

      const files = Object.entries(unpackers.fflate(source)).map(
        ([path, bytes]) => [`driver/${path}`, bytes] as const,
      );
      assert.equal(Object.keys(withoutScripts(tree)).length, files.length);
      for (const [path, bytes] of files) assert.ok(tree[path]?.equals(bytes), `${name}: ${path}`);
    }
  });
});

interface Header {
  readonly fields: Record<string, number>;
  readonly name: string;
  readonly extra: string;
}

function localHeaderAt(zip: Buffer, at: number): Header {
  assert.equal(zip.toString("latin1", at, at + 4), "PK\x03\x04");
  const nameLength = zip.readUInt16LE(at + 26);
  const extraLength = zip.readUInt16LE(at + 28);
  return {
    fields: {
      needed: zip.readUInt16LE(at + 4),
      flags: zip.readUInt16LE(at + 6),
      method: zip.readUInt16LE(at + 8),
      time: zip.readUInt16LE(at + 10),
      date: zip.readUInt16LE(at + 12),
      crc: zip.readUInt32LE(at + 14),
      packed: zip.readUInt32LE(at + 18),
      size: zip.readUInt32LE(at + 22),
    },
    name: zip.toString("utf8", at + 30, at + 30 + nameLength),
    extra: zip.toString("hex", at + 30 + nameLength, at + 30 + nameLength + extraLength),
  };
}

test("the Intune package is laid out byte by byte as Microsoft's tool lays it out", async (t) => {
  const { fetch, printer } = await appWithMixedDriver(t);

  const outer = await bytesOf(fetch(`/printers/${printer}/packages/mdm`));

  const growthHint = `20a2180028a01400${"00".repeat(20)}`;
  const content = localHeaderAt(outer, 0);
  const payloadAt = 30 + content.name.length + 28;
  const payload = outer.subarray(payloadAt, payloadAt + (content.fields.size ?? 0));
  assert.equal(content.name, "IntuneWinPackage/Contents/IntunePackage.intunewin");
  assert.equal(content.extra, growthHint);
  assert.deepEqual(content.fields, {
    needed: 10,
    flags: 0,
    method: 0,
    time: 0,
    date: 0x21,
    crc: crc32(payload),
    packed: payload.length,
    size: payload.length,
  });
  const metadataAt = payloadAt + payload.length;
  const metadata = localHeaderAt(outer, metadataAt);
  const xmlAt = metadataAt + 30 + metadata.name.length + 28;
  const xml = outer.subarray(xmlAt, xmlAt + (metadata.fields.size ?? 0));
  assert.equal(metadata.name, "IntuneWinPackage/Metadata/Detection.xml");
  assert.equal(metadata.extra, growthHint);
  assert.deepEqual([metadata.fields.needed, metadata.fields.flags, metadata.fields.method], [10, 0, 0]);
  assert.equal(metadata.fields.crc, crc32(xml));

  const directoryAt = xmlAt + xml.length;
  assert.equal(outer.toString("latin1", directoryAt, directoryAt + 4), "PK\x01\x02");
  assert.deepEqual([outer.readUInt16LE(directoryAt + 4), outer.readUInt16LE(directoryAt + 6)], [45, 10]);
  assert.deepEqual(
    [outer.readUInt16LE(directoryAt + 30), outer.readUInt16LE(directoryAt + 32)],
    [0, 0],
    "no extra, no comment",
  );
  assert.equal(outer.readUInt32LE(directoryAt + 42), 0);
  const secondAt = directoryAt + 46 + content.name.length;
  assert.equal(outer.readUInt32LE(secondAt + 42), metadataAt);
  const endAt = secondAt + 46 + metadata.name.length;
  assert.equal(outer.toString("latin1", endAt, endAt + 4), "PK\x05\x06");
  assert.deepEqual(
    [outer.readUInt16LE(endAt + 8), outer.readUInt16LE(endAt + 10), outer.length],
    [2, 2, endAt + 22],
  );

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
    const { fields, name, extra } = localHeaderAt(inner, at);
    const dataAt = at + 30 + Buffer.byteLength(name);
    const data = inner.subarray(dataAt, dataAt + (fields.packed ?? 0));
    const plain = fields.method === 8 ? inflateRawSync(data) : data;
    assert.deepEqual(
      [fields.needed, fields.flags, fields.time, fields.date, extra],
      [20, 0x800, 0, 0x21, ""],
      name,
    );
    assert.equal(fields.method, fields.size === 0 ? 0 : 8, name);
    assert.deepEqual([plain.length, crc32(plain)], [fields.size, fields.crc], name);
    names.push(name);
    at = dataAt + data.length;
  }
  assert.deepEqual(names.slice(0, 3), ["driver/papyrus.inf", "driver/papyrus.cat", "driver/papyrus.dll"]);
  assert.deepEqual(names.slice(-3), ["install.ps1", "uninstall.ps1", "detect.ps1"]);
  assert.equal(inner.toString("latin1", at, at + 4), "PK\x01\x02");
  assert.deepEqual([inner.readUInt16LE(at + 4), inner.readUInt16LE(at + 6)], [20, 20]);
  assert.equal(inner.readUInt16LE(inner.length - 12), names.length);
});

test("the same printer, driver and icon give the same bytes, also after a restart and in a copy of the folder", async (t) => {
  const folder = await temporaryFolder(t);
  const first = await startApp(t, { dataDir: folder });
  const id = await first.addPrinter();
  await first.upload(`/printers/${id}/icon`, makePng(), "icon.png");

  const before = await bytesOf(first.fetch(`/printers/${id}/packages/mdm`));
  const copyFolder = await temporaryFolder(t);
  await cp(folder, copyFolder, { recursive: true, filter: (path) => !path.includes("lock-") });
  const second = await startApp(t, { dataDir: copyFolder });
  const after = await bytesOf(second.fetch(`/printers/${id}/packages/mdm`));
  const elsewhere = await startApp(t);
  const other = await bytesOf(elsewhere.fetch(`/printers/${await elsewhere.addPrinter()}/packages/mdm`));

  assert.ok(before.equals(after));
  assert.equal(before.equals(other), false, "another installation has other keys");
});

test("packages of one driver begin with the same bytes, those of two drivers share no key", async (t) => {
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

  const keys = packages.map((bytes) => /<EncryptionKey>(.*?)</.exec(bytes.toString("latin1"))?.[1]);
  const ciphertext = packages.map((bytes) => bytes.subarray(200, 200 + noise.length));
  assert.ok(keys[0] && ciphertext[0]?.equals(ciphertext[1] ?? Buffer.alloc(0)));
  assert.equal(keys[0], keys[1]);
  assert.notEqual(keys[0], keys[2]);
  assert.equal(ciphertext[0]?.equals(ciphertext[2] ?? Buffer.alloc(0)), false);
});

test("ranges of every kind give the right bytes, and impossible ones 416", async (t) => {
  const { fetch, printer } = await appWithMixedDriver(t);
  for (const format of ["rmm", "mdm"]) {
    const path = `/printers/${printer}/packages/${format}`;
    const full = await fetch(path);
    const whole = await bytesOf(full);
    const size = whole.length;
    const etag = full.headers.get("etag") ?? "";
    const date = new Date(Date.UTC(2040, 0, 1)).toUTCString();
    const get = (headers: Record<string, string>) => fetch(path, { headers });

    const ranges: [string, number, number][] = [
      ["bytes=0-0", 0, 1],
      ["bytes=10-99", 10, 100],
      [`bytes=${size - 5}-`, size - 5, size],
      ["bytes=-7", size - 7, size],
      [`bytes=5-${size * 2}`, 5, size],
      [`bytes=-${size * 2}`, 0, size],
      ["bytes=60-200000", 60, 200_001],
    ];
    for (const [range, start, end] of ranges) {
      const answer = await get({ range });
      assert.equal(answer.status, 206, range);
      assert.equal(answer.headers.get("content-range"), `bytes ${start}-${end - 1}/${size}`);
      assert.ok((await bytesOf(answer)).equals(whole.subarray(start, end)), `${format} ${range}`);
    }
    for (const range of [`bytes=${size}-`, "bytes=-0"]) {
      const answer = await get({ range });
      assert.deepEqual([answer.status, answer.headers.get("content-range")], [416, `bytes */${size}`]);
    }
    const wholes = [
      { range: "lines=1-2" },
      { range: "bytes=9-5" },
      { range: "bytes=0-1,4-5" },
      { range: "bytes=0-9", "if-range": '"old"' },
      { range: "bytes=0-9", "if-range": date },
      { "if-modified-since": date },
    ];
    for (const headers of wholes)
      assert.equal((await get(headers as Record<string, string>)).status, 200, JSON.stringify(headers));
    assert.equal(full.headers.get("last-modified"), null);
    assert.equal((await get({ range: "bytes=0-9", "if-range": etag })).status, 206);
    assert.equal((await get({ "if-none-match": etag })).status, 304);
    assert.equal((await get({ "if-none-match": `"x", W/${etag}` })).status, 304);
    assert.equal((await get({ "if-none-match": '"other"' })).status, 200);
  }
});

test("every range of a package of several chunks is right", async (t) => {
  const { fetch, addDriver, addPrinter } = await startApp(t);
  const big = Buffer.concat(Array.from({ length: 18 }, () => noise));
  const driver = await addDriver(driverZip({ extra: [{ name: "big.bin", bytes: big, method: 0 }] }));
  const path = `/printers/${await addPrinter({ driver_id: String(driver) })}/packages/mdm`;
  const whole = await bytesOf(fetch(path));
  const mib = 1024 * 1024;

  assert.ok(whole.length > 3 * mib);
  for (const edge of [mib, 2 * mib, 3 * mib]) {
    for (const [start, end] of [
      [edge - 40, edge + 400],
      [edge + 155, edge + 157],
      [100, edge + 156],
      [edge + 156, whole.length],
    ] as const) {
      const part = await bytesOf(fetch(path, { headers: { range: `bytes=${start}-${end - 1}` } }));
      assert.ok(part.equals(whole.subarray(start, end)), `${start}-${end}`);
    }
  }
});

test("nothing is written for a download", async (t) => {
  const { fetch, printer, dataDir } = await appWithMixedDriver(t);
  const listing = () => readdirSync(dataDir, { recursive: true, encoding: "utf8" }).sort();
  const before = listing();

  await bytesOf(fetch(`/printers/${printer}/packages/mdm`));
  await fetch(`/printers/${printer}/packages/mdm`, { method: "HEAD" });

  assert.deepEqual(listing(), before);
});

/** Asks for a download and gives up after so many bytes. */
function leaveAfter(url: string, path: string, bytes: number): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = 0;
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    );
    socket.on("data", (chunk) => {
      received += chunk.length;
      if (received >= bytes) socket.destroy();
    });
    socket.on("close", () => resolve());
  });
}

test("a client that leaves in the middle costs one log line and nothing else", async (t) => {
  const app = await startApp(t);
  const driver = await app.addDriver(
    driverZip({
      extra: [{ name: "big.bin", bytes: Buffer.concat(Array.from({ length: 60 }, () => noise)), method: 0 }],
    }),
  );
  const id = await app.addPrinter({ driver_id: String(driver) });
  const openFiles = () => readdirSync("/proc/self/fd").length;
  await bytesOf(app.fetch(`/printers/${id}/packages/mdm`));
  const before = openFiles();

  for (const format of ["mdm", "rmm"]) {
    for (let i = 0; i < 5; i++) await leaveAfter(app.url, `/printers/${id}/packages/${format}`, 100_000);
  }
  await until(() => openFilesBelow(app.dataDir).length === 0);

  assert.equal((await app.fetch("/health")).status, 200);
  assert.ok(openFiles() <= before + 2, "no open file is left");
  assert.ok(app.lines.filter((line) => /broken off: GET .*the client left/.test(line)).length >= 1);
  assert.equal(app.lines.filter((line) => /error/.test(line)).length, 0, app.lines.join("\n"));
});

test("more sealed downloads at once than are allowed are refused with 503, also of a known package", async (t) => {
  const { url, fetch, addDriver, addPrinter } = await startApp(t);
  const big = Buffer.concat(Array.from({ length: 80 }, () => noise));
  const driver = await addDriver(driverZip({ extra: [{ name: "big.bin", bytes: big, method: 0 }] }));
  const path = `/printers/${await addPrinter({ driver_id: String(driver) })}/packages/mdm`;
  await bytesOf(fetch(path));
  const { hostname, port } = new URL(url);
  const stalled = Array.from({ length: 32 }, () => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    );
    return socket.once("data", () => socket.pause()).on("error", () => {});
  });
  await Promise.all(stalled.map((socket) => new Promise((resolve) => socket.once("data", resolve))));

  const refused = await fetch(path);
  for (const socket of stalled) socket.destroy();

  assert.equal(refused.status, 503);
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
  await until(async () => {
    const again = await fetch(path);
    await again.arrayBuffer();
    return again.status === 200;
  });
});

test("an archive that goes bad while it is read breaks the connection, so that half does not look whole", async (t) => {
  const app = await startApp(t);
  const zip = driverZip({
    extra: [{ name: "big.bin", bytes: Buffer.concat(Array.from({ length: 150 }, () => noise)), method: 0 }],
  });
  const driver = await app.addDriver(zip);
  const id = await app.addPrinter({ driver_id: String(driver) });
  const path = app.app.store.blobs.archivePath(app.app.store.drivers.get(driver).sha256);
  await bytesOf(app.fetch(`/printers/${id}/packages/mdm`));

  for (const format of ["rmm", "mdm"]) {
    await writeFile(path, zip);
    const answer = await app.fetch(`/printers/${id}/packages/${format}`);
    truncateSync(path, 2_000_000);
    await assert.rejects(answer.arrayBuffer(), `${format} broke off`);
  }
  const after = await app.fetch(`/printers/${id}/packages/rmm`);

  assert.equal(app.lines.filter((line) => /broken off/.test(line)).length, 2, app.lines.join("\n"));
  assert.equal(after.status, 422);
  assert.match(await after.text(), /damaged on disk/);
});

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

test("a script fetched alone names the service it came from, only when that is a plain host", async (t) => {
  const { url, addPrinter, fetch } = await startApp(t);
  const id = await addPrinter();
  const raw = (host: string) =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(url);
      let text = "";
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          `GET /printers/${id}/scripts/install HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        ),
      );
      socket.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      socket.on("close", () => resolve(text));
    });

  const own = await (await fetch(`/printers/${id}/scripts/install`)).text();
  const named = await raw("platen.lan:8080");
  const odd = await raw("a'b;c");
  const fixed = await startApp(t, { publicUrl: "https://platen.example/sub" });
  const fixedText = await (await fixed.fetch(`/printers/${await fixed.addPrinter()}/scripts/install`)).text();

  assert.ok(own.includes(`Download = '${url}/drivers/1/files'`));
  assert.ok(named.includes("Download = 'http://platen.lan:8080/drivers/1/files'"));
  assert.ok(odd.includes("Download = ''"));
  assert.ok(fixedText.includes("Download = 'https://platen.example/sub/drivers/1/files'"));
});

test("a script fetched alone holds the SHA-256 of the driver's files as the service serves them", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  const id = await addPrinter();
  const text = async (path: string) => (await fetch(path)).text();

  const install = await text(`/printers/${id}/scripts/install`);
  const files = await bytesOf(fetch("/drivers/1/files"));
  const again = await bytesOf(fetch("/drivers/1/files"));
  const others =
    (await text(`/printers/${id}/scripts/detect`)) + (await text(`/printers/${id}/scripts/uninstall`));

  const sha256 = createHash("sha256").update(files).digest("hex").toUpperCase();
  assert.ok(install.includes(`FilesSha256 = '${sha256}'`));
  assert.ok(files.equals(again));
  assert.doesNotMatch(others, /https?:\/\/127/);
});

test("every kind of download answers HEAD, its name and ranges alike", async (t) => {
  const { fetch, printer, upload } = await appWithMixedDriver(t);
  await upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  const paths = [
    "/drivers/1/archive",
    "/drivers/1/files",
    ...["packages/rmm", "packages/mdm", "scripts/install", "icon"].map(
      (end) => `/printers/${printer}/${end}`,
    ),
  ];
  for (const path of paths) {
    const full = await fetch(path);
    const whole = await bytesOf(full);
    const etag = full.headers.get("etag") ?? "";

    const head = await fetch(path, { method: "HEAD" });
    const part = await fetch(path, { headers: { range: "bytes=3-40", "if-range": etag } });
    const known = await fetch(path, { headers: { "if-none-match": etag } });
    const beyond = await fetch(path, { headers: { range: `bytes=${whole.length}-` } });

    assert.deepEqual([head.status, part.status, known.status, beyond.status], [200, 206, 304, 416], path);
    assert.equal(head.headers.get("content-length"), String(whole.length));
    assert.ok((await bytesOf(part)).equals(whole.subarray(3, 41)), path);
    assert.equal(full.headers.get("last-modified"), null, path);
  }
});

test("the revision changes with what the scripts use, and with nothing else", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  const id = await addPrinter();
  const revision = async () =>
    /Revision = '(\w{12})'/.exec(await (await fetch(`/printers/${id}/scripts/detect`)).text())?.[1];
  const fields = { name: "Office", address: "10.0.0.9", driver_id: "1" };

  const first = await revision();
  await post("/clients", { name: "A" });
  await post(`/printers/${id}`, { ...fields, client_id: "1" });
  const sameUses = await revision();
  await post(`/printers/${id}`, { ...fields, location: "Hall" });
  const other = await revision();
  await post("/drivers/1", { trust_publisher: "on" });
  const driver = await revision();

  assert.match(first ?? "", /^[0-9a-f]{12}$/);
  assert.equal(sameUses, first);
  assert.equal(new Set([first, other, driver]).size, 3);
});

test("the checksum of two pieces is combined rightly", () => {
  for (const [first, second] of [
    ["", "abc"],
    ["abc", ""],
    ["hello ", "world".repeat(1000)],
  ] as const) {
    const [a, b] = [Buffer.from(first), Buffer.from(second)];
    assert.equal(crc32Combine(crc32(a), crc32(b), b.length), crc32(Buffer.concat([a, b])));
  }
});

test("a driver of the corpus passes through with its archive served as uploaded", {
  skip: withoutShared,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const zip = join(folder, "driver.zip");
  await makeSharedZip("ricoh-imc3500", zip, "--scale", "0.01");
  const { fetch, addDriver } = await startApp(t);

  const id = await addDriver(readFileSync(zip));

  assert.ok((await bytesOf(fetch(`/drivers/${id}/archive`))).equals(readFileSync(zip)));
});
