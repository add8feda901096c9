import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deflateSync } from "node:zlib";
import { UserError } from "../../src/domain/errors.ts";
import { checkIcon, iconLimitBytes } from "../../src/domain/printers/icon.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makePicture, makePng, type Picture, pictureRows, pngChunk } from "../support/printers/png.ts";
import { picturesByPython } from "../support/printers/png-by-python.ts";
import { seededRandom } from "../support/random.ts";
import { leastTime } from "../support/times.ts";

const [first, second] = [makePng(), makePng(256, 256, 100)];
const packed = deflateSync(pictureRows());
const idat = (bytes: Uint8Array) => pngChunk("IDAT", bytes);

const kinds: [colour: number, depths: readonly number[]][] = [
  [0, [1, 2, 4, 8, 16]],
  [2, [8, 16]],
  [3, [1, 2, 4, 8]],
  [4, [8, 16]],
  [6, [8, 16]],
];

test("pictures of every colour type, depth and interlacing are accepted", () => {
  const pictures: Picture[] = kinds.flatMap(([colour, depths]) =>
    depths.flatMap((depth) =>
      [0, 1].map((interlace) => ({ colour, depth, interlace, palette: colour === 3 ? 3 * 2 ** depth : 0 })),
    ),
  );

  for (const picture of pictures) checkIcon(makePicture(picture));

  assert.equal(pictures.length, 30);
});

test("pictures of another encoder are accepted", { skip: without.python }, () => {
  const pictures = picturesByPython();

  for (const picture of pictures) checkIcon(picture);

  assert.equal(pictures.length, 30);
});

test("a palette beside true colours, data in many chunks and ancillary chunks are accepted", () => {
  const pieces = [packed.subarray(0, 1), Buffer.alloc(0), packed.subarray(1, 7), packed.subarray(7)];
  const text = pngChunk("tEXt", Buffer.from("Comment\0hello"));
  const animation = [pngChunk("acTL", Buffer.alloc(8, 1)), pngChunk("fcTL", Buffer.alloc(26))];

  checkIcon(makePicture({ colour: 6, palette: 768 }));
  checkIcon(makePicture({ data: pieces.map(idat) }));
  checkIcon(makePicture({ before: [text, ...animation], after: [pngChunk("fdAT", Buffer.alloc(9)), text] }));
});

const colours = /This PNG is damaged: its colour format is not valid/;
const small = Buffer.alloc(10);
const invalidPictures: [string, RegExp, Picture, after?: string][] = [
  ["an indexed colour without palette", colours, { colour: 3, rows: small }],
  ["an invalid colour type", colours, { colour: 1, rows: small }],
  ["an invalid colour type and depth", colours, { colour: 99, depth: 77, rows: small }],
  ["an invalid depth of true colours", colours, { colour: 2, depth: 4, rows: small }],
  ["an invalid depth of indexed colours", colours, { colour: 3, depth: 16, palette: 768, rows: small }],
  ["one pixel", /1 × 1 pixels/, { width: 1, height: 1, rows: small }],
  ["a column too few", /255 × 256 pixels/, { width: 255, height: 256, rows: small }],
  [
    "the largest size of a PNG",
    /2147483647 × 2147483647 pixels/,
    { width: 0x7fffffff, height: 0x7fffffff, rows: small },
  ],
  ["no picture data", /contains no picture data/, { data: [] }],
  ["empty picture data", /broken or too long/, { data: [idat(Buffer.alloc(0))] }],
  ["picture data that is none", /broken or too long/, { data: [idat(Buffer.from("no picture"))] }],
  ["picture data that is cut off", /broken or too long/, { data: [idat(packed.subarray(0, -5))] }],
  ["a wrong sum", /broken or too long/, { data: [idat(Buffer.from(packed).fill(1, packed.length - 4))] }],
  ["more picture data than any picture has", /broken or too long/, { rows: Buffer.alloc(1 << 20) }],
  ["data after its end", /something follows its end/, {}, "x"],
];

test("a PNG that is no valid icon is refused with one clear sentence", () => {
  for (const [what, message, picture, after = ""] of invalidPictures)
    assert.throws(
      () => checkIcon(Buffer.concat([makePicture(picture), Buffer.from(after)])),
      (error) => error instanceof UserError && message.test(error.message),
      what,
    );
});

test("truncated and altered pictures are accepted or refused with a UserError", () => {
  const picture = makePicture({ colour: 3, depth: 4, palette: 48, interlace: 1 });
  const random = seededRandom(13);
  let refusals = 0;

  for (let i = 0; i < 3000; i++) {
    const copy = Buffer.from(i % 5 === 0 ? picture.subarray(0, random(picture.length)) : picture);
    if (copy.length > 0) copy[random(copy.length)] = random(256);
    try {
      checkIcon(copy);
    } catch (error) {
      assert.ok(error instanceof UserError, `${i}: ${error instanceof Error ? error.stack : error}`);
      refusals++;
    }
  }

  assert.ok(refusals > 2900, `${refusals} refused`);
});

/** Checking takes far less. The check blocks the event loop. */
const checkLimitMs = 50;

/** Bytes of content that an icon of the largest upload size can have. */
const contentBytes = iconLimitBytes - makePng().length - 12;

/** A zlib stream of empty stored blocks. */
function emptyBlocks(size: number): Buffer {
  const block = Buffer.from([0, 0, 0, 0xff, 0xff]);
  const blocks = Buffer.alloc(Math.floor((size - 11) / 5) * 5, block);
  return Buffer.concat([Buffer.from([0x78, 1]), blocks, Buffer.from([1, 0, 0, 0xff, 0xff, 0, 0, 0, 1])]);
}

const largest: [string, () => Picture][] = [
  ["the largest picture", () => ({ colour: 6, depth: 16, interlace: 1 })],
  ["empty chunks", () => ({ before: Array(64_000 - 100).fill(pngChunk("tEXt", Buffer.alloc(0))) })],
  ["empty data chunks", () => ({ data: Array(63_900).fill(idat(Buffer.alloc(0))) })],
  ["one large chunk", () => ({ before: [pngChunk("tEXt", Buffer.alloc(contentBytes))] })],
  ["empty blocks of data", () => ({ data: [idat(emptyBlocks(contentBytes))] })],
  ["data that unpacks to 64 MB", () => ({ rows: Buffer.alloc(64 << 20) })],
];
for (const [what, make] of largest) {
  test(`an icon of ${what} is checked within ${checkLimitMs} ms`, async (t) => {
    const bytes = makePicture(make());

    const time = await leastTime(() => {
      try {
        checkIcon(bytes);
      } catch (error) {
        assert.ok(error instanceof UserError);
      }
    });

    t.diagnostic(`${time.toFixed(1)} ms`);
    assert.ok(bytes.length <= iconLimitBytes, `${bytes.length} bytes`);
    assert.ok(time < checkLimitMs, `${time} ms`);
  });
}

const iconFiles = ({ dataDir }: TestApp) => readdirSync(join(dataDir, "icons"));
const incomingFiles = ({ dataDir }: TestApp) => readdirSync(join(dataDir, "incoming"));
const servedIcon = ({ fetch }: TestApp) => bytesOf(fetch("/clients/1/icon"));
const undoLast = ({ app, post }: TestApp) => post(`/deletions/${app.undo.list()[0]?.id}/undo`, {});

test("a printer's icon is saved, replaced and served", async (t) => {
  const service = await startApp(t);
  const { upload, fetch, app } = service;
  const id = await service.addPrinter();

  const answers = [await upload(`/printers/${id}/icon`, first, "icon.png")];
  const before = app.store.icons.find(id)?.sha256;
  answers.push(await upload(`/printers/${id}/icon`, second, "icon.png"));
  await app.undo.makeFinal(1);
  const served = await fetch(`/printers/${id}/icon`);

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.notEqual(app.store.icons.find(id)?.sha256, before);
  assert.equal(iconFiles(service).length, 1);
  assert.equal(served.headers.get("content-type"), "image/png");
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), second);
});

test("an invalid icon is refused in the icon’s section, and the old icon stays", async (t) => {
  const service = await startApp(t);
  const id = await service.addPrinter();
  const broken = makePng();
  broken[60] = (broken[60] ?? 0) ^ 1;
  const rest = 768_000 - makePng(256, 256, 1).length + 1;
  const uploadAll = async (icons: readonly Buffer[]) => {
    const found: [number, string][] = [];
    for (const icon of icons) {
      const answer = await service.upload(`/printers/${id}/icon`, icon, "icon.png");
      found.push([answer.status, await answer.text()]);
    }
    return found;
  };

  const [ofNone] = await uploadAll([makePicture({ data: [] })]);
  const afterNone = service.app.store.icons.find(id);
  const answers = await uploadAll([
    ...[first, Buffer.from("GIF89a"), makePng(255, 256), broken],
    ...[makePng(256, 256, rest + 1), makePng(256, 256, rest)],
  ]);
  const ofNobody = await service.upload("/printers/99/icon", first, "icon.png");

  assert.equal(ofNone?.[0], 422);
  assert.match(ofNone?.[1] ?? "", /This PNG is damaged: it contains no picture data/);
  assert.equal(afterNone, undefined, "nothing is saved");
  assert.deepEqual(
    [...answers.map(([status]) => status), ofNobody.status],
    [200, 422, 422, 422, 413, 200, 404],
  );
  assert.match(answers[2]?.[1] ?? "", /255 × 256 pixels/);
  assert.equal(service.app.undo.list().length, 1, "of the one that was replaced");
  assert.equal(iconFiles(service).length, 2);
  assert.deepEqual(incomingFiles(service), []);
});

async function startWithClient(t: TestContext, icon?: Buffer): Promise<TestApp> {
  const service = await startApp(t);
  await service.post("/clients", { name: "Contoso" });
  if (icon !== undefined) await service.upload("/clients/1/icon", icon, "icon.png");
  return service;
}

test("a client’s icon is saved, replaced, served and deleted, and each change can be undone", async (t) => {
  const service = await startWithClient(t);

  const answers = [
    await service.upload("/clients/1/icon", first, "icon.png"),
    await service.upload("/clients/1/icon", second, "icon.png"),
    await undoLast(service),
  ];
  const back = await servedIcon(service);
  answers.push(await service.fetch("/clients/1/icon", { method: "DELETE" }));
  answers.push(await service.fetch("/clients/1/icon"));
  await undoLast(service);

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 404],
  );
  assert.deepEqual([back, await servedIcon(service)], [first, first]);
});

test("an invalid icon is refused with the reason on the client’s page, and nothing is left of it", async (t) => {
  const service = await startWithClient(t);
  const { upload } = service;

  const answers = [
    await upload("/clients/1/icon", Buffer.from("GIF89a"), "icon.png", navigation),
    await upload("/clients/1/icon", makePng(255, 256), "icon.png"),
    await upload("/clients/1/icon", Buffer.alloc(768_001), "icon.png"),
    await upload("/clients/9/icon", first, "icon.png"),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [422, 422, 413, 404],
  );
  assert.match((await answers[0]?.text()) ?? "", /Contoso[\s\S]*role="alert">This file is not a PNG/);
  assert.equal(service.app.store.clients.get(1).icon, undefined);
  assert.deepEqual([...iconFiles(service), ...incomingFiles(service)], []);
});

test("apps of printers without an icon get the client’s, and a printer’s own icon stays", {
  skip: without.verifier,
}, async (t) => {
  const service = await startWithClient(t, first);
  const { addPrinter, upload, fetch } = service;
  const bare = await addPrinter({ name: "Bare", client_id: "1" });
  const own = await addPrinter({ name: "Own", client_id: "1", driver_id: "1", address: "10.0.0.8" });
  await upload(`/printers/${own}/icon`, second, "icon.png");

  const packages = await Promise.all([bare, own].map((id) => bytesOf(fetch(`/printers/${id}/packages/mdm`))));
  const script = (await bytesOf(fetch("/clients/1/publish"))).toString();
  const rmm = unpackers.fflate(await bytesOf(fetch(`/printers/${bare}/packages/rmm`)));
  const page = await (await fetch(`/printers/${bare}`)).text();

  assert.deepEqual(
    packages.map((bytes) => verifyIntunewin(bytes)["icon.png"]),
    [first, second],
  );
  assert.ok(script.includes(first.toString("base64")) && script.includes(second.toString("base64")));
  assert.equal(rmm["icon.png"], undefined);
  assert.match(page, /\/clients\/1\/icon/);
});

test("the file of a deleted client’s icon stays until the deletion is final", async (t) => {
  const service = await startWithClient(t, first);

  await service.post("/clients/1/delete", {});
  const kept = iconFiles(service);
  await undoLast(service);
  const restored = await servedIcon(service);
  await service.post("/clients/1/delete", {});
  await service.app.undo.makeFinal(service.app.undo.list()[0]?.id ?? 0);

  assert.equal(kept.length, 1);
  assert.deepEqual(restored, first);
  assert.deepEqual(iconFiles(service), []);
});

test("a client’s icon survives a restart, and the log says who set it without the picture", async (t) => {
  const service = await startWithClient(t, first);
  const [entry] = (await logEntries(service)).slice(-1);
  await service.stop();

  const again = await startApp(t, { dataDir: service.dataDir });

  assert.deepEqual(await servedIcon(again), first);
  assert.deepEqual(
    entry?.fields?.map(({ name }) => name),
    ["icon_sha256"],
  );
  assert.ok(existsSync(join(service.dataDir, "icons")));
});
