import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deflateSync } from "node:zlib";
import { UserError } from "../../src/domain/errors.ts";
import { checkIcon, iconLimitBytes } from "../../src/domain/printers/icon.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { undoLast } from "../support/backup/deletions.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { rounds } from "../support/depth.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makePicture, makePng, type Picture, pictureRows, pngChunk } from "../support/printers/png.ts";
import { picturesByPython } from "../support/printers/png-by-python.ts";
import { seededRandom } from "../support/random.ts";
import { leastTime } from "../support/times.ts";

const [first, second] = [makePng(), makePng(256, 256, 100)];
const packed = deflateSync(pictureRows());
const idat = (bytes: Uint8Array) => pngChunk("IDAT", bytes);

test("pictures of another encoder, of every colour type, depth and interlacing, are accepted", {
  skip: without.python,
}, () => {
  const pictures = picturesByPython();

  for (const picture of pictures) checkIcon(picture);

  assert.equal(pictures.length, 30);
});

test("a palette beside true colours, data in many chunks and ancillary chunks are accepted", () => {
  const pieces = [packed.subarray(0, 1), Buffer.alloc(0), packed.subarray(1, 7), packed.subarray(7)];
  const text = pngChunk("tEXt", Buffer.from("Comment\0hello"));
  const animation = [pngChunk("acTL", Buffer.alloc(8, 1)), pngChunk("fcTL", Buffer.alloc(26))];

  checkIcon(makePicture({ colour: 3, palette: 768 }));
  checkIcon(makePicture({ colour: 6, palette: 768 }));
  checkIcon(makePicture({ data: pieces.map(idat) }));
  checkIcon(makePicture({ before: [text, ...animation], after: [pngChunk("fdAT", Buffer.alloc(9)), text] }));
});

const colours = /This PNG is damaged: its colour format is not valid/;
const broken = /broken or too long/;
const rows = Buffer.alloc(10);
const invalidPictures: [string, RegExp, Picture, after?: string][] = [
  ["an indexed colour without palette", colours, { colour: 3, rows }],
  ["an invalid colour type", colours, { colour: 1, rows }],
  ["an invalid colour type and depth", colours, { colour: 99, depth: 77, rows }],
  ["an invalid depth of true colours", colours, { colour: 2, depth: 4, rows }],
  ["an invalid depth of indexed colours", colours, { colour: 3, depth: 16, palette: 768, rows }],
  ["one pixel", /1 × 1 pixels/, { width: 1, height: 1, rows }],
  ["a column too few", /255 × 256 pixels/, { width: 255, height: 256, rows }],
  ["the largest size", /2147483647 × 2147483647/, { width: 0x7fffffff, height: 0x7fffffff, rows }],
  ["no picture data", /contains no picture data/, { data: [] }],
  ["empty picture data", broken, { data: [idat(Buffer.alloc(0))] }],
  ["picture data that is none", broken, { data: [idat(Buffer.from("no picture"))] }],
  ["picture data that is cut off", broken, { data: [idat(packed.subarray(0, -5))] }],
  ["a wrong sum", broken, { data: [idat(Buffer.from(packed).fill(1, packed.length - 4))] }],
  ["more picture data than any picture has", broken, { rows: Buffer.alloc(1 << 20) }],
  ["too many chunks", /more than 4096 chunks/, { before: Array(4096).fill(pngChunk("tEXt", rows)) }],
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
  const picture = makePicture({ colour: 3, depth: 4, palette: 48 });
  const random = seededRandom(13);
  const count = rounds(500, 3000);
  let refusals = 0;

  for (let i = 0; i < count; i++) {
    const copy = Buffer.from(i % 5 === 0 ? picture.subarray(0, random(picture.length)) : picture);
    if (copy.length > 0) copy[random(copy.length)] = random(256);
    try {
      checkIcon(copy);
    } catch (error) {
      assert.ok(error instanceof UserError, `${i}: ${error instanceof Error ? error.stack : error}`);
      refusals++;
    }
  }

  assert.ok(refusals > 0.95 * count, `${refusals} refused`);
});

/** Bytes of content that an icon of the largest upload size can have. */
const contentBytes = iconLimitBytes - makePng().length - 12;

/** A zlib stream of empty stored blocks. */
function emptyBlocks(size: number): Buffer {
  const block = Buffer.from([0, 0, 0, 0xff, 0xff]);
  const blocks = Buffer.alloc(Math.floor((size - 11) / 5) * 5, block);
  return Buffer.concat([Buffer.from([0x78, 1]), blocks, Buffer.from([1, 0, 0, 0xff, 0xff, 0, 0, 0, 1])]);
}

test("the largest and oddest icons are checked within 50 ms, since that blocks the event loop", async (t) => {
  const largest: Record<string, Picture> = {
    "the largest picture": { colour: 6, depth: 16 },
    "empty chunks": { before: Array(64_000 - 100).fill(pngChunk("tEXt", Buffer.alloc(0))) },
    "empty data chunks": { data: Array(63_900).fill(idat(Buffer.alloc(0))) },
    "one large chunk": { before: [pngChunk("tEXt", Buffer.alloc(contentBytes))] },
    "empty blocks of data": { data: [idat(emptyBlocks(contentBytes))] },
    "data that unpacks to 16 MB": { rows: Buffer.alloc(16 << 20) },
  };

  for (const [what, picture] of Object.entries(largest)) {
    const bytes = makePicture(picture);
    const time = await leastTime(() => {
      try {
        checkIcon(bytes);
      } catch (error) {
        assert.ok(error instanceof UserError);
      }
    });
    t.diagnostic(`${what}: ${time.toFixed(1)} ms`);
    assert.ok(bytes.length <= iconLimitBytes, `${what}: ${bytes.length} bytes`);
    assert.ok(time < 50, `${what}: ${time} ms`);
  }
});

const filesOf = ({ dataDir }: TestApp, folder = "icons") => readdirSync(join(dataDir, folder));
const servedIcon = ({ fetch }: TestApp) => bytesOf(fetch("/clients/1/icon"));

async function startWithClient(t: TestContext, icon?: Buffer): Promise<TestApp> {
  const service = await startApp(t);
  await service.post("/clients", { name: "Contoso" });
  if (icon !== undefined) await service.upload("/clients/1/icon", icon, "icon.png");
  return service;
}

for (const [owner, path] of [
  ["printer", "/printers/1/icon"],
  ["client", "/clients/1/icon"],
] as const) {
  test(`a ${owner}’s icon is saved, replaced, served and deleted, and each change can be undone`, async (t) => {
    const service = await startWithClient(t);
    const { upload, fetch } = service;
    await service.post("/printers", { name: "Office", address: "10.0.0.9" });

    const answers = [await upload(path, first, "icon.png"), await upload(path, second, "icon.png")];
    const served = await fetch(path);
    await undoLast(service);
    const back = await bytesOf(fetch(path));
    answers.push(await fetch(path, { method: "DELETE" }), await fetch(path));
    await undoLast(service);

    assert.deepEqual(statusesOf(answers), [200, 200, 200, 404]);
    assert.equal(served.headers.get("content-type"), "image/png");
    assert.deepEqual(Buffer.from(await served.arrayBuffer()), second);
    assert.deepEqual([back, await bytesOf(fetch(path))], [first, first]);
  });

  test(`an invalid icon of a ${owner} is refused in the icon’s section, and the old icon stays`, async (t) => {
    const service = await startWithClient(t);
    await service.post("/printers", { name: "Office", address: "10.0.0.9" });
    const altered = makePng();
    altered[60] = (altered[60] ?? 0) ^ 1;
    const rest = 768_000 - makePng(256, 256, 1).length + 1;
    const sent: [icon: Buffer, status: number, text: RegExp][] = [
      [makePicture({ data: [] }), 422, /This PNG is damaged: it contains no picture data/],
      [makePng(256, 256, rest), 303, /^$/],
      [first, 303, /^$/],
      [Buffer.from("GIF89a"), 422, /role="alert">This file is not a PNG/],
      [makePng(255, 256), 422, /255 × 256 pixels/],
      [altered, 422, /damaged/],
      [makePng(256, 256, rest + 1), 413, /too large/],
    ];

    for (const [icon, status, text] of sent) {
      const answer = await service.upload(path, icon, "icon.png", navigation);
      assert.equal(answer.status, status);
      assert.match(await answer.text(), text);
    }
    const ofNobody = await service.upload(path.replace("1", "99"), first, "icon.png");

    assert.equal(ofNobody.status, 404);
    assert.deepEqual(await bytesOf(service.fetch(path)), first);
    assert.equal(filesOf(service).length, 2, "with the one that was replaced");
    assert.deepEqual(filesOf(service, "incoming"), []);
  });
}

test("apps of printers without an icon get the client’s, and a printer’s own icon stays", {
  skip: without.verifier,
}, async (t) => {
  const service = await startWithClient(t, first);
  const { addPrinter, upload, fetch } = service;
  const bare = await addPrinter({ name: "Bare", client_id: "1" });
  const own = await addPrinter({ name: "Own", client_id: "1", driver_id: "1", address: "10.0.0.8" });
  await upload(`/printers/${own}/icon`, second, "icon.png");

  const app = verifyIntunewin(await bytesOf(fetch(`/printers/${bare}/packages/mdm`)));
  const script = await textOf(fetch("/clients/1/publish"));
  const rmm = unpackers.fflate(await bytesOf(fetch(`/printers/${bare}/packages/rmm`)));
  const page = await textOf(fetch(`/printers/${bare}`));

  assert.deepEqual(app["icon.png"], first);
  for (const icon of [first, second]) assert.ok(script.includes(icon.toString("base64")));
  assert.equal(rmm["icon.png"], undefined);
  assert.match(page, /\/clients\/1\/icon/);
});

test("a client’s icon survives a restart, its file stays until a deletion of the client is final, and the log has no picture", async (t) => {
  const before = await startWithClient(t, first);
  const [entry] = (await logEntries(before)).slice(-1);
  await before.stop();
  const service = await startApp(t, { dataDir: before.dataDir });

  const again = await servedIcon(service);
  await service.post("/clients/1/delete", {});
  const kept = filesOf(service);
  await undoLast(service);
  const restored = await servedIcon(service);
  await service.post("/clients/1/delete", {});
  await service.app.undo.makeFinal(service.app.undo.list()[0]?.id ?? 0);

  const logged = entry?.fields?.map(({ name }) => name);
  assert.deepEqual([again, restored], [first, first]);
  assert.deepEqual(logged, ["icon_sha256"]);
  assert.equal(kept.length, 1);
  assert.deepEqual(filesOf(service), []);
});
