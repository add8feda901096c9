import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { decodeText } from "../../src/domain/decode.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { isDeep, rounds, seedOr } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { planOf } from "../support/printers/lists.ts";
import { seededRandom } from "../support/random.ts";

const pieces = [
  ...['"', '""', ",", ";", "\t", "\r\n", "\n", "\r", "\0", "\ufeff", "\ud800", "\u202e", "'=", "sep=;\n"],
  ...["name", "id", "-1", "1e999", "9".repeat(30), "2026-99-99", "{", "}", "[", "]", ":", '"Printers"'],
  ...['"Ports"', '"__proto__"', "null", "urn:uuid:", "http://[::1", "fe80::1%eth0"],
];

/** A list with some random pieces replaced, duplicated or removed. */
function mutate(text: string, seed: number): Buffer {
  const random = seededRandom(seed);
  let mutated = text;
  for (let i = 0; i <= random(seed % 5 < 2 ? 2 : 12); i++) {
    const at = random(mutated.length + 1);
    const end = at + random(3) * random(40);
    const piece = random(4) === 0 ? mutated.slice(at, end + 20) : (pieces[random(pieces.length)] ?? "");
    mutated = mutated.slice(0, at) + piece + mutated.slice(end);
  }
  const bytes = Buffer.from(mutated, (["utf8", "utf8", "utf16le", "latin1"] as const)[random(4)]);
  if (random(4) === 0 && bytes.length > 0) bytes[random(bytes.length)] = random(256);
  return bytes;
}

const printServer = JSON.stringify({
  Printers: [
    { Name: "Office", PortName: "IP_10.0.0.9", DriverName: "Papyrus 100 PCL6", Location: "Hall" },
    { Name: "Lobby", PortName: "WSD-1", DriverName: "Papyrus 100 PS", Type: "Local" },
  ],
  Ports: [{ Name: "IP_10.0.0.9", PrinterHostAddress: "10.0.0.9", Protocol: 1, SNMPEnabled: true }],
  WsdPorts: [{ Name: "WSD-1", Uuid: "urn:uuid:1" }],
  WsdDevices: [{ Uuid: "uuid:1/x", Url: "http://10.0.0.7:80/" }],
  Drivers: [{ Name: "Papyrus 100 PCL6", Manufacturer: "Papyrus" }],
});

/** The saved printers as texts, by id. */
const printersOf = ({ app }: TestApp) =>
  new Map(app.store.printers.withSettings().map((printer) => [printer.id, JSON.stringify(printer)]));

/** Imports a list without a preview. @returns whether all of it was imported as planned, or it was refused without a write */
async function importList(service: TestApp, list: Buffer) {
  const before = printersOf(service);
  const plan = await planOf(service, decodeText(list)).catch(() => undefined);
  const { status } = await service.upload("/import", list, "list");
  const after = printersOf(service);
  const writes = plan?.rows.flatMap(({ write }) => write ?? []) ?? [];
  const isWriting = writes.length > 0;
  if (status !== 200) return { status, isWriting, isWhole: isDeepStrictEqual(after, before) };
  const { counts } = await planOf(service, decodeText(list));
  const made = writes.filter(({ printerId }) => printerId === undefined).length;
  const changed = new Set(writes.map(({ printerId }) => printerId));
  const isKept = [...before].every(([id, text]) => changed.has(id) || after.get(id) === text);
  const isPlanned = after.size === before.size + made && counts.new + counts.changes === 0;
  return { status, isWriting, isWhole: isKept && isPlanned && plan?.counts.wrong === 0 };
}

test("randomly damaged lists are planned or refused, and imported completely or not at all", {
  timeout: 180_000,
}, async (t) => {
  const service = await startApp(t);
  await service.post("/clients", { name: "Alpha; =Beta" });
  await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 100 PS"] }));
  for (const name of ["Office", "=Lobby", "Büro"])
    await service.post("/printers", { name, client_id: "1", driver_id: "1", address: "10.0.0.1" });
  const csv = await (await service.fetch("/export/printers.csv")).text();

  const statuses: number[] = [];
  const broken: number[] = [];
  const taken: boolean[] = [];
  let imports = 0;
  const first = seedOr(isDeep ? 1 : 46);
  for (let seed = first; seed < first + rounds(8, 400); seed++) {
    const list = mutate([csv, csv.replaceAll(",", ";"), printServer][seed % 3] ?? "", seed);
    if (seed % 2 !== 0) {
      statuses.push((await service.upload("/import/preview", list, "list")).status);
      continue;
    }
    const { status, isWriting, isWhole } = await importList(service, list);
    imports++;
    statuses.push(status);
    if (status === 200) taken.push(isWriting);
    if (!isWhole) broken.push(seed);
  }
  const writing = taken.filter((isWriting) => isWriting).length;
  const pages = ["/printers", "/clients", "/"].map(async (path) => (await service.fetch(path)).status);
  const { counts } = await planOf(service, await (await service.fetch("/export/printers.csv")).text());

  t.diagnostic(
    `${counts.same} printers in the end: of ${imports} lists ${taken.length} taken, ${writing} wrote`,
  );
  assert.deepEqual([...new Set(statuses)].sort(), [200, 422]);
  assert.deepEqual(await Promise.all(pages), [200, 200, 200]);
  assert.deepEqual(counts, { new: 0, changes: 0, same: counts.same, wrong: 0, "left out": 0 });
  assert.ok(counts.same > 3, `${counts.same} printers`);
  assert.deepEqual(broken, [], "seeds of lists that were imported in part");
  assert.ok(writing > rounds(0, 2) && taken.length < imports - rounds(0, 5));
});
