import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { matchRows } from "../../src/domain/import-match.ts";
import { readPrinterCsv } from "../../src/domain/printer-csv-reader.ts";
import type { ImportWork } from "../../src/services/import.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import { stepped } from "../support/lists.ts";
import { connectRaw } from "../support/raw.ts";
import { makePrinter } from "../support/records.ts";
import { growsEvenly } from "../support/times.ts";

/** What a preview's page would carry of a list. */
function stateOf(list: string): string {
  return deflateRawSync(list).toString("base64");
}

/** By how much this process grows meanwhile at most, in MB. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  await work();
  clearInterval(timer);
  return (most - before) / 1e6;
}

/** Counts the lists that are worked on at once, and those that are worked on or wait, at most. */
function countLists({ app: { imports } }: TestApp): { readonly atOnce: number; readonly held: number } {
  const most = { atOnce: 0, held: 0 };
  let working = 0;
  let held = 0;
  const inTurn = imports.inTurn.bind(imports);
  imports.inTurn = <T>(client: string, work: (imports: ImportWork) => Promise<T>) => {
    held++;
    const answer = inTurn(client, async (open) => {
      most.atOnce = Math.max(most.atOnce, ++working);
      return work(open).finally(() => working--);
    });
    const end = () => held--;
    answer.then(end, end);
    // By then a list that is refused is held no more.
    setImmediate(() => {
      most.held = Math.max(most.held, held);
    });
    return answer;
  };
  return most;
}

deepTest(
  "small states that unpack to much are unpacked one after the other, and only a few wait",
  {
    timeout: 120_000,
  },
  async (t) => {
    const service = await startApp(t);
    const { post, fetch } = service;
    const most = countLists(service);
    const state = stateOf(`name\n${`${" ".repeat(2000)}\n`.repeat(4100)}`);
    const answers: Response[] = [];

    const grown = await growth(async () => {
      const all = Array.from({ length: 30 }, () => post("/import/preview", { state }));
      answers.push(...(await Promise.all(all)));
    });

    const refused = answers.filter(({ status }) => status === 503);
    t.diagnostic(`grew by ${grown.toFixed(0)} MB`);
    assert.ok(state.length < 50_000, `${state.length} characters`);
    assert.deepEqual(most, { atOnce: 1, held: 8 }, "half of all that may wait are one client's");
    // How many come after others are answered is the machine's.
    assert.ok(refused.length > 0 && refused.length <= 22, `${refused.length} of 30 were refused`);
    for (const answer of refused) assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/);
    assert.match((await refused[0]?.text()) ?? "", /Too many lists are being read/);
    assert.ok(grown < 200, `${grown.toFixed(0)} MB`);
    assert.equal((await fetch("/health")).status, 200);
  },
);

deepTest("another client’s list is taken while one client’s lists fill their half", async (t) => {
  const { post, url } = await startApp(t);
  const body = "text=name%0AA";
  const head = `POST /import/preview HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`;
  const state = stateOf(`name\n${`${"x".repeat(1600)}\n`.repeat(2000)}`);

  const own = Array.from({ length: 12 }, () => post("/import/preview", { state }));
  const other = await connectRaw(url, "127.0.0.2");
  other.socket.write(head + body);
  const text = await other.closed;
  const statuses = (await Promise.all(own)).map(({ status }) => status);

  assert.match(text, /^HTTP\/1\.1 200 /);
  assert.ok(statuses.includes(503) && statuses.includes(200), statuses.join());
});

test("a state beyond a list’s own limit is refused, and so are blank rows without end", async (t) => {
  const { post, upload } = await startApp(t);
  const large = stateOf(`name\nA\n${"\n".repeat(9 << 20)}`);

  const beyond = await post("/import/preview", { state: large });
  const blank = await upload("/import/preview", Buffer.from(`name\nA\n${"\n".repeat(4 << 20)}`), "a.csv");
  const few = await upload(
    "/import/preview",
    Buffer.from(`name;location\nA;\n${";\n".repeat(14_000)}`),
    "a.csv",
  );

  assert.equal(beyond.status, 422);
  assert.match(await beyond.text(), /did not arrive whole/);
  assert.equal(blank.status, 422);
  assert.match(await blank.text(), /more than 20000 rows with its blank ones/);
  assert.equal(few.status, 200);
});

deepTest("a list of eight megabytes that hardly packs comes whole to the second step", async (t) => {
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
  "printers of one name, and as many rows of it, take time in proportion to their number",
  async () => {
    const printer = makePrinter();
    const rows = stepped(readPrinterCsv("name,client\nOFFICE,\n")).rows;
    const matched = (count: number, exported: number) => {
      const printers = Array.from({ length: count }, (_, i) => ({ ...printer, id: i + 1 }));
      const all = printers.flatMap(({ id, created_at }) =>
        rows.map((row) => ({
          ...row,
          number: id + 1,
          origin: id > exported ? undefined : { id, created_at },
        })),
      );
      const matches = stepped(matchRows(all, { printers, clients: new Map(), client: "" }));
      return [...matches.values()];
    };

    await growsEvenly("rows without an origin", 1500, (size) => matched(size, 0));
    await growsEvenly("exported rows", 1500, (size) => matched(size, size));
    await growsEvenly("all but a few", 1500, (size) => matched(size, size - 3));

    const ids = matched(5, 4).map((match) => match.printer?.id);
    assert.deepEqual(ids, [1, 2, 3, 4, 5]);
    assert.match(matched(5, 3)[4]?.problem ?? "", /5 printers of this client have this name/);
  },
);
