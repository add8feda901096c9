import type { TestContext } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { longestBlock } from "../support/times.ts";
import { machine, median, table } from "./figures.ts";

// Measures how long changes of thousands of printers block other requests, in processor time of the main thread.

const rounds = 5;
const modelCount = 40;
const rereading = "all printers read again for lists";
const models = (from: number) => Array.from({ length: modelCount }, (_, i) => `Papyrus ${from + i} PCL6`);

/** Runs one service with this many printers. @returns each change's longest block, by name, in milliseconds */
async function measure(count: number): Promise<Map<string, number>> {
  const ends: (() => unknown)[] = [];
  const service = await startApp({ after: (end: () => unknown) => ends.push(end) } as unknown as TestContext);
  const { app, post, fetch } = service;
  for (let i = 1; i <= 40; i++) await post("/clients", { name: `Client & Sons ${i}` });
  const [from, to] = [
    await service.addDriver(driverZip({ models: models(0) })),
    await service.addDriver(driverZip({ models: models(0), version: "2.0.0.0" })),
  ];
  const ids = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      app.store.printers.add(
        parsePrinter({
          name: `Office “${i}” floor ${i % 7}`,
          client_id: String((i % 40) + 1),
          driver_id: String(from),
          driver_desc: i % 2 === 0 ? `Papyrus ${i % modelCount} PCL6` : "",
          address: `10.0.${i >> 8}.${i & 255}`,
          location: `Building ${i % 5}, floor ${i % 7}`,
          duplex: "long_edge",
          replaces: `Old ${i}\nOlder ${i}`,
        }),
      ),
    ),
  );
  await app.overview.read();
  const found = new Map<string, number>();
  const measureBlock = async (what: string, work: () => Promise<Response>) => {
    const longest = await longestBlock(async () => {
      const answer = await work();
      if (answer.status !== 303 && answer.status !== 200) throw new Error(`${what}: ${await answer.text()}`);
    });
    found.set(what, longest);
    const read = await longestBlock(async () => {
      await app.overview.read();
      await new Promise((resolve) => setTimeout(resolve, 5));
    });
    found.set(rereading, Math.max(read, found.get(rereading) ?? 0));
  };
  let page = "";
  await measureBlock("the page before a move", async () => {
    const answer = await fetch(`/drivers/${from}/move?to=${to}`);
    page = await answer.clone().text();
    return answer;
  });
  const preview = /name="preview" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "";
  await measureBlock("moved to another driver", () =>
    post(`/drivers/${from}/move`, { to: String(to), preview }, navigation),
  );
  const chosen = { ids: ids.join(), confirmed: "1" };
  const bulk = (fields: Record<string, string>) =>
    post("/printers/bulk", { ...chosen, ...fields }, navigation);
  await measureBlock("changed to another driver, models kept", () =>
    bulk({ action: "driver", driver_id: String(from) }),
  );
  const all = { action: "driver", driver_id: String(to), driver_desc: "Papyrus 3 PCL6" };
  await measureBlock("changed to another driver and one model", () => bulk(all));
  await measureBlock("changed to another client", () => bulk({ action: "client", client_id: "3" }));
  await measureBlock("deleted", () => bulk({ action: "delete" }));
  await measureBlock("undone", () => post(`/deletions/${app.undo.list()[0]?.id}/undo`, {}, navigation));
  for (const end of ends.reverse()) await end();
  return found;
}

async function main(): Promise<void> {
  const rows = [["what", "2,000 printers", "5,000 printers"]];
  const figures = new Map<string, string[]>();
  for (const count of [2000, 5000]) {
    const found = [];
    for (let round = 0; round < rounds; round++) found.push(await measure(count));
    for (const what of found[0]?.keys() ?? []) {
      const values = found.map((round) => round.get(what) ?? 0);
      const text = `${Math.min(...values).toFixed(0)}, ${median(values).toFixed(0)} ms`;
      figures.set(what, [...(figures.get(what) ?? []), text]);
    }
  }
  for (const [what, values] of figures) rows.push([what, ...values]);
  console.log(
    `\n## Many printers changed at once: the longest block, quickest and median of ${rounds} (${machine()})\n`,
  );
  table(rows);
}

void main();
