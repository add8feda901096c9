import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { verifyAudit } from "../../src/store/audit/verify.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText, logEntries, logFiles } from "../support/audit/audit.ts";
import { downloadCounts } from "../support/audit/counted.ts";

/** Chained lines in the format of earlier versions, of which some had lines for a part of a download and for several downloads. */
function oldLines(last: string, seq: number): string {
  let hash = /"hash":"(\w{64})"/.exec(last)?.[1] ?? "";
  const start = '"at":"2026-11-21T15:00:00.000Z"';
  const heads = [
    `{"seq":${seq + 1},${start},"event":"downloaded","who":"anyone","from":"10.0.0.7","kind":"printer","id":1,"name":"Office","what":"install","by":"script","digest":"abc","printers":[[1,"r1"]]`,
    `{"seq":${seq + 2},${start},"event":"downloaded","who":"anyone","from":"10.0.0.7","what":"rmm","by":"browser","digest":"abc","printers":[[1,"r1"]],"count":4`,
    `{"seq":${seq + 3},${start},"event":"sign-in-failed","who":"several","from":"10.0.0.8","what":"wrong password","count":40`,
    `{"seq":${seq + 4},${start},"event":"log-broken","who":"platen","from":"","what":"downloads and sign-ins that there was no room to write down","count":3`,
    `{"seq":${seq + 5},${start},"event":"refused","who":"eve","from":"10.0.0.9","what":"GET /accounts"`,
    `{"seq":${seq + 6},${start},"event":"downloaded","who":"several","from":"2001:db8::/32","what":"install","by":"script","printers":[[1,"r1"]],"count":7,"since":"2026-11-21T14:59:00.000Z","tallied":true`,
    `{"seq":${seq + 7},${start},"event":"download-begun","who":"anyone","from":"10.0.0.7","kind":"printer","id":1,"name":"Office","what":"rmm","by":"script","digest":"abc","printers":[[1,"r1"]],"range":"1-39/5000","count":39,"since":"2026-11-21T14:59:00.000Z"`,
  ];
  const lines = heads.map((head) => {
    hash = createHash("sha256").update(hash).update(head).digest("hex");
    return `${head},"hash":"${hash}"}\n`;
  });
  return lines.join("");
}

test("lines of earlier versions are verified, read, and counted for their printers", async (t) => {
  const dataDir = await temporaryFolder(t);
  const before = await startApp(t, { dataDir });
  await before.addPrinter();
  await before.stop();
  const [file = ""] = logFiles(dataDir);
  const known = entriesIn(dataDir).length;
  appendFileSync(file, oldLines(readFileSync(file, "utf8").trimEnd().split("\n").at(-1) ?? "", known));

  const report = await verifyAudit(dataDir);
  const app = await startApp(t, { dataDir });
  const entries = (await logEntries(app)).slice(known);
  const page = await (await app.fetch("/audit")).text();

  assert.match(await (await app.fetch("/audit.csv")).text(), /,1-39\/5000,2026-11-21T14:59:00\.000Z/);
  assert.deepEqual([report.count, report.broken], [known + 7, undefined]);
  assert.deepEqual(entries.map(entryText), [
    "downloaded printer 1 Office install",
    "downloaded rmm 4 times",
    "sign-in-failed wrong password 40 times",
    "log-broken downloads and sign-ins that there was no room to write down 3 times",
    "refused GET /accounts",
    "downloaded install 7 times",
    "download-begun printer 1 Office rmm 39 times",
  ]);
  assert.match(
    page,
    /<strong>Download started<\/strong>[^<]*<bdi>[^<]*<\/bdi>[\s\S]{0,400}, bytes 1-39\/5000, 39 times/,
  );
  // The version that wrote the last line had already counted its printers.
  assert.deepEqual(await downloadCounts(app, 1), ["install script 1", "rmm browser 4"]);
  assert.equal(page.match(/class="audit-head"/g)?.length, known + 7);
});
