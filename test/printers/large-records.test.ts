import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Database } from "sql.js";
import { UserError } from "../../src/domain/errors.ts";
import { cleanText } from "../../src/domain/fields.ts";
import { parseClient } from "../../src/domain/printers/client.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { databaseLimitBytes, maxRecords, undoLimitBytes } from "../../src/store/record-limits.ts";
import { navigation, startApp, temporaryFolder } from "../support/app.ts";
import { editDatabase } from "../support/database.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { assertLinearTime } from "../support/times.ts";

/** Starts a service with one printer and one client, whose database `fill` changes. */
async function startFilled(t: Parameters<typeof startApp>[0], fill: (db: Database) => void) {
  const dataDir = await temporaryFolder(t);
  const first = await startApp(t, { dataDir });
  await first.addPrinter();
  await first.post("/clients", { name: "Contoso" });
  await first.stop();
  await editDatabase(join(dataDir, "platen.sqlite"), fill);
  return startApp(t, { dataDir });
}

/** SQL that copies the first record of a table until the table has `count` records. */
function copies(table: string, count: number, names: string, values: string): string {
  return `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO ${table} (id, ${names}) SELECT i, ${values} FROM n, (SELECT * FROM ${table} ORDER BY id LIMIT 1)`;
}

/** Returns a function that makes a database larger by this many bytes. */
const fillTo = (bytes: number) => (db: Database) =>
  db.run(
    `INSERT INTO audit_places (name, seq, hash, file, size) VALUES ('filler', 0, printf('%.*c', ${bytes}, 'x'), '', 0)`,
  );

test("clients above their limit are refused until one is deleted", async (t) => {
  const service = await startFilled(t, (db) => {
    const values = "'Client ' || i, 'client ' || i, notes, subnets, created_at";
    const names = "name, name_key, notes, subnets, created_at";
    db.run(copies("clients", maxRecords.clients - 1, names, values));
  });
  const add = (name: string) => service.post("/clients", { name }, navigation);

  const answers = [await add("Last"), await add("One more")];
  answers.push(await service.post("/clients/2/delete", {}, navigation), await add("One more"));

  assert.deepEqual(statusesOf(answers), [303, 507, 303, 303]);
  assert.equal(service.app.store.clients.count(), maxRecords.clients);
});

deepTest(
  "printers and drivers above their limits are refused, also from a list, and a driver’s file is deleted",
  async (t) => {
    const service = await startFilled(t, (db) => {
      const settings = "created_at, updated_at, client_id, driver_id, name, settings";
      db.run(copies("printers", maxRecords.printers - 1, settings, settings));
      const names =
        "file_name, size, uploaded_at, updated_at, name, comment, inf_path, driver_desc, trust_publisher, model_chosen, drop_unused, listed";
      const values = `printf('%064x', i), ${names}`;
      // The three drivers of Windows count too.
      db.run(copies("drivers", maxRecords.drivers - 3, `sha256, ${names}`, values));
      db.run(
        "INSERT INTO reports SELECT id, (SELECT report FROM reports LIMIT 1) FROM drivers WHERE id NOT IN (SELECT driver_id FROM reports)",
      );
    });
    const form = { name: "More", address: "10.0.0.1" };

    const last = await service.post("/printers", form, navigation);
    const refused = [
      await service.post("/printers", form),
      await service.post("/import", { text: "name,address\nA,10.0.0.1\nB,10.0.0.2" }),
      await service.upload("/drivers/upload", driverZip({ version: "9.9.9.9" })),
    ];
    const list = await service.fetch("/printers");

    assert.deepEqual(statusesOf([last, ...refused, list]), [303, 507, 507, 507, 200]);
    assert.match(await textOf(refused[0] as Response), /The limit of 10\u202f000 printers is reached/);
    assert.match(await textOf(refused[2] as Response), /drivers is reached/);
    assert.ok((await list.arrayBuffer()).byteLength < 48 * 1024 * 1024, "the page is smaller than 48 MB");
    assert.deepEqual(readdirSync(join(service.dataDir, "incoming")), []);
    assert.equal(readdirSync(join(service.dataDir, "drivers")).length, 1);
  },
);

deepTest("a full database refuses additions and longer texts, and accepts deletions", async (t) => {
  const service = await startFilled(t, fillTo(databaseLimitBytes));

  const refused = [
    await service.post("/clients", { name: "One more" }),
    await service.post("/clients/1", { name: "Contoso", notes: "longer" }),
    await service.post("/printers/1", { name: "Office", address: "10.0.0.7" }),
  ];
  const deleted = await service.post("/printers/1/delete", {}, navigation);

  assert.deepEqual(statusesOf(refused), [507, 507, 507]);
  assert.match(await (refused[0] as Response).text(), /The database has reached its limit of 256 MB/);
  assert.equal(deleted.status, 303);
  assert.equal((await service.fetch("/printers/1")).status, 404);
});

deepTest(
  "changes of a database that is half full are saved, and their answers say that they cannot be undone",
  async (t) => {
    const service = await startFilled(t, fillTo(undoLimitBytes));

    const edited = await service.post("/clients/1", { name: "Contoso", notes: "longer" }, navigation);
    const page = await (await service.fetch(edited.headers.get("location") ?? "")).text();
    const moved = await service.post("/printers/bulk", {
      ...{ ids: "1", action: "client", client_id: "1", confirmed: "1" },
    });

    for (const text of [page, await moved.text()]) {
      assert.match(text, /Platen had no space to keep the earlier values\. You cannot undo this/);
      assert.doesNotMatch(text, /\/undo"/);
    }
    assert.equal(service.app.store.clients.get(1).notes, "longer");
    assert.equal(service.app.store.printers.get(1).printer.client_id, 1);
    assert.deepEqual(service.app.undo.list(), []);
  },
);

/** Texts for which careless readers need more than linear time. */
const shapes: Record<string, (size: number) => string> = {
  "combining marks": (size) => `a${"\u0316\u0301".repeat(size / 2)}`,
  "combining marks beyond the first plane": (size) => `a${"\u{1d165}\u{1d16d}".repeat(size / 4)}`,
  "blanks and a letter": (size) => `${" ".repeat(size)}a${" ".repeat(size)}b`,
  "control characters": (size) => "\u0001\t\u0085".repeat(size / 3),
  "line breaks": (size) => "\r\n".repeat(size / 2),
  "lone surrogates": (size) => "\ud800".repeat(size),
  "dots and hyphens": (size) => "a-.".repeat(size / 3),
  colons: (size) => ":".repeat(size),
  "a hyphen each": (size) => `${"-a".repeat(size / 2)}!`,
  brackets: (size) => "[".repeat(size),
};

deepTest("reading a form takes linear time for every text in every field", async () => {
  const fields = ["name", "address", "port_name", "location", "replaces", "snmp_index", "color", "client_id"];
  for (const [shape, make] of Object.entries(shapes)) {
    await assertLinearTime(`cleaning ${shape}`, 25_000, (size) => cleanText(make(size)));
    for (const name of fields) {
      await assertLinearTime(`a printer’s ${name} of ${shape}`, 12_500, (size) => {
        assert.throws(() => parsePrinter({ address: "10.0.0.300", [name]: make(size) }), UserError);
      });
    }
    await assertLinearTime(`a client’s name of ${shape}`, 12_500, (size) => {
      assert.throws(() => parseClient({ name: `${make(size)}${"x".repeat(200)}` }), UserError);
    });
  }
});
