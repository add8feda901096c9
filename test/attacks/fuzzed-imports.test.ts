import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/driver-zip.ts";
import { planOf } from "../support/lists.ts";
import { seededRandom } from "../support/random.ts";

const pieces = [
  '"',
  '""',
  ",",
  ";",
  "\t",
  "\r\n",
  "\n",
  "\r",
  "\0",
  "\ufeff",
  "\ud800",
  "\u202e",
  "'=",
  "sep=;\n",
  "name",
  "id",
  "-1",
  "1e999",
  "9".repeat(30),
  "2026-99-99",
  "{",
  "}",
  "[",
  "]",
  ":",
  '"Printers"',
  '"Ports"',
  '"__proto__"',
  "null",
  "urn:uuid:",
  "http://[::1",
  "fe80::1%eth0",
];

/** A list with some places of it replaced, doubled or taken out. */
function spoiled(text: string, seed: number): Buffer {
  const random = seededRandom(seed);
  let spoilt = text;
  for (let i = 0; i <= random(12); i++) {
    const at = random(spoilt.length + 1);
    const end = at + random(3) * random(40);
    const piece = random(4) === 0 ? spoilt.slice(at, end + 20) : (pieces[random(pieces.length)] ?? "");
    spoilt = spoilt.slice(0, at) + piece + spoilt.slice(end);
  }
  const bytes = Buffer.from(spoilt, (["utf8", "utf8", "utf16le", "latin1"] as const)[random(4)]);
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

test("lists that were spoiled anywhere are planned or refused, and imported whole or not", {
  timeout: 180_000,
}, async (t) => {
  const service = await startApp(t);
  await service.post("/clients", { name: "Alpha; =Beta" });
  await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 100 PS"] }));
  for (const name of ["Office", "=Lobby", "Büro"])
    await service.post("/printers", { name, client_id: "1", driver_id: "1", address: "10.0.0.1" });
  const csv = await (await service.fetch("/export/printers.csv")).text();

  const statuses: number[] = [];
  for (let seed = 1; seed <= 400; seed++) {
    const list = spoiled([csv, csv.replaceAll(",", ";"), printServer][seed % 3] ?? "", seed);
    const path = seed % 4 === 0 ? "/import" : "/import/preview";
    statuses.push((await service.upload(path, list, "list")).status);
  }
  const pages = ["/printers", "/clients", "/"].map(async (path) => (await service.fetch(path)).status);
  const { counts } = await planOf(service, await (await service.fetch("/export/printers.csv")).text());

  t.diagnostic(`${counts.same} printers in the end`);
  assert.deepEqual([...new Set(statuses)].sort(), [200, 422]);
  assert.deepEqual(await Promise.all(pages), [200, 200, 200]);
  assert.deepEqual(counts, { new: 0, changes: 0, same: counts.same, wrong: 0, "left out": 0 });
  assert.ok(counts.same > 3, `${counts.same} printers`);
});
