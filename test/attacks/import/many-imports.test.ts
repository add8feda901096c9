import assert from "node:assert/strict";
import { test } from "node:test";
import { matchRows } from "../../../src/domain/import/import-match.ts";
import { readPrinterCsv } from "../../../src/domain/import/printer-csv.ts";
import { startApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { makePrinter } from "../../support/records.ts";
import { assertLinearTime } from "../../support/times.ts";

test("millions of blank rows are refused, and a few thousand are ignored", async (t) => {
  const { upload } = await startApp(t);

  const blank = await upload("/import/preview", Buffer.from(`name\nA\n${"\n".repeat(4 << 20)}`), "a.csv");
  const few = await upload(
    "/import/preview",
    Buffer.from(`name;location\nA;\n${";\n".repeat(14_000)}`),
    "a.csv",
  );

  assert.equal(blank.status, 422);
  assert.match(await blank.text(), /more than 20000 rows, including blank ones/);
  assert.equal(few.status, 200);
});

deepTest("a list of 8 MB that hardly compresses passes through the preview completely", async (t) => {
  const { post, upload } = await startApp(t);
  const noise = Array.from({ length: 250 }, () =>
    Buffer.from(Array.from({ length: 24_000 }, () => Math.random() * 256)).toString("base64"),
  );
  const list = Buffer.from(`name,other\n${noise.map((text, i) => `P${i},${text}\n`).join("")}`);

  const page = await (await upload("/import/preview", list, "a.csv")).text();
  const state = /name="state" value="([^"]*)"/.exec(page)?.[1] ?? "";
  const answer = await post("/import/preview", { state });

  assert.ok(list.length > 7_900_000 && list.length <= 8 << 20, `${list.length} bytes`);
  assert.equal(answer.status, 200);
});

deepTest(
  "the time to match rows and printers with the same name is proportional to their number",
  async () => {
    const printer = makePrinter();
    const rows = readPrinterCsv("name,client\nOFFICE,\n").rows;
    const matched = (count: number, exported: number) => {
      const printers = Array.from({ length: count }, (_, i) => ({ ...printer, id: i + 1 }));
      const all = printers.flatMap(({ id, created_at }) =>
        rows.map((row) => ({
          ...row,
          number: id + 1,
          origin: id > exported ? undefined : { id, created_at },
        })),
      );
      const matches = matchRows(all, { printers, clients: new Map(), client: "" });
      return [...matches.values()];
    };

    await assertLinearTime("rows without an origin", 1500, (size) => matched(size, 0));
    await assertLinearTime("exported rows", 1500, (size) => matched(size, size));
    await assertLinearTime("all but a few", 1500, (size) => matched(size, size - 3));

    const ids = matched(5, 4).map((match) => match.printer?.id);
    assert.deepEqual(ids, [1, 2, 3, 4, 5]);
    assert.match(matched(5, 3)[4]?.problem ?? "", /5 printers of this client have this name/);
  },
);
