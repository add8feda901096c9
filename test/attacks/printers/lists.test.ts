import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { narrowPrinters, parseNarrowing } from "../../../src/domain/printers/search.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { makePrinter } from "../../support/records.ts";
import { assertWithin, leastTime, longestBlock } from "../../support/times.ts";

async function fill({ app }: TestApp, count: number, fields: Record<string, string> = {}): Promise<number[]> {
  const settings = parsePrinter({ name: "Büro", address: "10.0.0.1", ...fields });
  return Promise.all(Array.from({ length: count }, () => app.store.printers.add(settings)));
}

deepTest(
  "bulk changes of 5000 printers block other requests for 1.4 s at most on an idle machine, and one printer more is refused",
  {
    timeout: 120_000,
  },
  async (t) => {
    const service = await startApp(t);
    await service.post("/clients", { name: "Alpha" });
    await service.addDriver(driverZip({ models: ["One", "Two"] }));
    const ids = await fill(service, 5001, { driver_desc: "Two" });
    const bulk = (chosen: readonly number[], fields: Record<string, string>) =>
      service.post(
        "/printers/bulk",
        { ids: chosen.join(), confirmed: "1", ...fields },
        { "upgrade-insecure-requests": "1" },
      );
    await service.app.overview.read();
    const mostIds = ids.slice(0, 5000);

    const refused = await bulk(ids, { action: "delete" });
    const statuses: number[] = [];
    const holds: number[] = [];
    for (const fields of [
      { action: "client", client_id: "1" },
      { action: "driver", driver_id: "1" },
      { action: "driver", driver_id: "1", driver_desc: "One" },
      { action: "delete" },
    ])
      holds.push(await longestBlock(async () => statuses.push((await bulk(mostIds, fields)).status)));

    t.diagnostic(`held for ${holds.map(Math.round).join(", ")} ms`);
    assert.equal(refused.status, 422);
    assert.deepEqual(statuses, [303, 303, 303, 303]);
    assert.equal(service.app.store.printers.list().length, 1);
    // A change also plans its effects and keeps the earlier values of all printers.
    await assertWithin(1400, { longest: Math.max(...holds) });
  },
);

test("invalid ids change nothing, however many there are", async (t) => {
  const service = await startApp(t);
  await fill(service, 2);
  const hostile = [
    "1;2",
    "1 OR 1=1",
    "0",
    "-1",
    "1e3",
    "0x1",
    "９",
    "1\u0000",
    "9".repeat(400),
    ",".repeat(80_000),
    `${"7,".repeat(50_000)}x`,
    "\ud800",
  ];

  const answers = await Promise.all(
    hostile.map((ids) => service.post("/printers/bulk", { ids, action: "delete" })),
  );

  for (const [i, answer] of answers.entries()) {
    assert.equal(answer.status, 422, hostile[i]?.slice(0, 20));
    assert.ok((await answer.text()).length < 1000);
  }
  assert.equal(service.app.store.printers.list().length, 2);
});

test("a form with very many parts is read whole or refused, never in part", async (t) => {
  const service = await startApp(t);
  const ids = await fill(service, 600);
  const form = new FormData();
  for (const id of ids) form.append("ids", String(id));
  form.append("action", "delete");
  const part = '--b\r\nContent-Disposition: form-data; name="ids"\r\n\r\n1\r\n';
  const headers = { "content-type": "multipart/form-data; boundary=b" };

  const empty = await service.fetch("/printers/bulk", {
    method: "POST",
    body: `${"--b\r\n\r\n\r\n".repeat(20_000)}--b--\r\n`,
    headers,
  });
  const large = await service.fetch("/printers/bulk", { method: "POST", body: part.repeat(9000), headers });
  const whole = await service.fetch("/printers/bulk", { method: "POST", body: form });

  assert.ok([413, 422].includes(empty.status), String(empty.status));
  assert.equal(large.status, 413);
  assert.equal(whole.status, 200);
  assert.equal(service.app.store.printers.list().length, 0);
});

deepTest("hostile queries take no longer than ordinary ones", async (t) => {
  const marks = "\u0301".repeat(30);
  const name = `e${marks}`.repeat(7);
  const rows = Array.from({ length: 1000 }, (_, i) => ({
    state: "ready" as const,
    changed: false,
    findings: [],
    printer: { ...makePrinter({ id: String(i + 1) }), name, location: `${"ab".repeat(120)}c` },
    client: undefined,
    driver: undefined,
    arm64Driver: undefined,
  }));
  const queries = [
    `e${"\u0301".repeat(199)}`,
    "e\u0301".repeat(100),
    Array.from({ length: 66 }, (_, i) => `${String.fromCharCode(97 + (i % 26))}${i % 10}`).join(" "),
    `${"ab".repeat(99)}b`,
    "\ufdfa".repeat(200),
    "a b c e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6 7 8 9 0",
  ];

  const times: number[] = [];
  for (const q of queries) times.push(await leastTime(() => narrowPrinters(rows, parseNarrowing({ q }))));

  t.diagnostic(`${times.map((ms) => ms.toFixed(1))} ms`);
  await assertWithin(250, { longest: Math.max(...times) });
});

test("every query is answered", async (t) => {
  const service = await startApp(t);
  await service.addPrinter({ name: "Büro" });
  const queries = [
    "%",
    "%00",
    "%ff%fe",
    "\u202e",
    "<script>",
    "q".repeat(5000),
    `${"%cc%81".repeat(500)}`,
    "+",
    "%ED%A0%80",
  ];

  for (const query of queries) {
    for (const path of ["/search", "/printers", "/packages", "/clients"]) {
      const answer = await service.fetch(`${path}?q=${query}&state=${query}&client_id=${query}`);
      assert.equal(answer.status, 200, `${path} ${query.slice(0, 20)}`);
      assert.doesNotMatch(await answer.text(), /<script>(?!<)/);
    }
  }
});

deepTest(
  "a thousand printers with 20 KB of replaced names each do not block other requests during a save",
  {
    timeout: 120_000,
  },
  async (t) => {
    const service = await startApp(t);
    const replaces = Array.from({ length: 90 }, (_, i) => `${i} ${"x".repeat(200)}`).join("\n");
    await fill(service, 1000, { replaces });
    await service.fetch("/printers");

    const save = () => service.post("/printers", { name: "New", address: "10.0.0.2" });
    const hold = await longestBlock(async () => {
      assert.equal((await save()).status, 200);
      assert.equal((await service.fetch("/printers")).status, 200);
    });

    t.diagnostic(`held for ${Math.round(hold)} ms`);
    await assertWithin(400, { hold });
  },
);
