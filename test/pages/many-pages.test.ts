import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { isNotModified, requestedRange } from "../../src/http/answers/send.ts";
import { defaultLimits } from "../../src/http/requests/limits.ts";
import { routes } from "../../src/http/routes.ts";
import { signInAdmin, startClosed } from "../support/access/people.ts";
import { client, startApp, type TestApp } from "../support/app.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { connectRaw, statusOf } from "../support/raw.ts";
import { assertLinearTime, assertWithin, longestBlock } from "../support/times.ts";
import { until } from "../support/until.ts";

async function fill({ app }: TestApp, count: number, fields: Record<string, string> = {}): Promise<void> {
  const settings = parsePrinter({ name: "Office", address: "10.0.0.1", ...fields });
  await Promise.all(Array.from({ length: count }, () => app.store.printers.add(settings)));
}

/** Requests each path on a connection of its own, all at once. @returns the status of each response */
async function requestAll({ url }: TestApp, paths: readonly string[], from?: string): Promise<number[]> {
  const raws = await Promise.all(paths.map(() => connectRaw(url, from)));
  raws.forEach(({ socket }, i) => void socket.write(`GET ${paths[i]} HTTP/1.1\r\nHost: localhost\r\n\r\n`));
  const answers = await Promise.all(raws.map((raw) => raw.until(/\r\n\r\n/)));
  for (const { socket } of raws) socket.destroy();
  return answers.map(statusOf);
}

/** The longest time in milliseconds that the event loop is blocked while work runs, and the work's result. */
async function holdOf<T>(work: () => Promise<T>): Promise<[number, T | undefined]> {
  let result: T | undefined;
  const hold = await longestBlock(async () => {
    result = await work();
  });
  return [hold, result];
}

/** Counts the reads of the printer list for pages. */
function countReads({ app }: TestApp): () => number {
  let reads = 0;
  const { overview } = app;
  const read = overview.read.bind(overview);
  overview.read = () => {
    reads++;
    return read();
  };
  return () => reads;
}

deepTest(
  "400 connections that request a long page at once do not block another client's page",
  { skip: process.platform !== "linux" && "only Linux has all of 127.0.0.0/8" },
  async (t) => {
    const service = await startApp(t);
    await fill(service, 2000);
    await (await service.fetch("/printers")).text();
    const reads = countReads(service);

    const flood = requestAll(service, Array<string>(400).fill("/printers"), "127.0.0.2");
    while (reads() === 0) await new Promise(setImmediate);
    const [hold, other] = await holdOf(() => requestAll(service, ["/printers"], "127.0.0.3"));
    const before = reads();
    const statuses = await flood;

    t.diagnostic(`held for ${Math.round(hold)} ms, ${before} pages were made before another client’s`);
    assert.deepEqual(other, [200]);
    assert.ok(statuses.every((status) => status === 200 || status === 503));
    assert.ok(before <= defaultLimits.pages, `${before} pages`);
    await assertWithin(1000, { hold });
  },
);

deepTest(
  "pages are made a few at a time, other requests are answered in between, and excess requests are refused",
  async (t) => {
    const service = await startApp(t, { limits: { pages: 40 } });
    await fill(service, 2000);
    await (await service.fetch("/printers")).text();
    const reads = countReads(service);
    const order: string[] = [];

    const pages = requestAll(
      service,
      Array.from({ length: 200 }, (_, i) => `/printers?x=${i}`),
    ).then((statuses) => {
      order.push("pages");
      return statuses;
    });
    while (reads() === 0) await new Promise(setImmediate);
    const health = await service.fetch("/health");
    order.push("health");
    const statuses = await pages;

    assert.deepEqual(order, ["health", "pages"]);
    assert.equal(health.status, 200);
    const refused = statuses.filter((status) => status === 503).length;
    assert.ok(refused >= 50, `${refused} of 200 were refused`);
    assert.equal(reads(), 200 - refused, "refused pages are not made");
  },
);

deepTest(
  "a client that reads no response gets no more pages made, and its connection is closed",
  async (t) => {
    const service = await startApp(t, { limits: { stalledMs: 1000 } });
    await fill(service, 900);
    await (await service.fetch("/printers")).text();
    const reads = countReads(service);

    const { socket } = await connectRaw(service.url);
    socket.pause();
    socket.write("GET /printers HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(30));
    await until(() => service.lines.some((line) => line.includes("/printers: the client is too slow")));
    const made = reads();
    const { status } = await service.fetch("/printers");
    socket.destroy();

    assert.ok(made < 30, `${made} pages were made`);
    assert.equal(status, 200);
  },
);

deepTest(
  "after a burst of pages, single requests are answered, also for pages that do not exist",
  async (t) => {
    const service = await startApp(t);
    const addresses = (path: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${path}?x=${i}`);
    const most = defaultLimits.pages / 2;

    const burst = await requestAll(service, addresses("/clients", 3 * most));
    const later: number[] = [];
    for (const path of [...addresses("/clients/99", most + 10), ...addresses("/clients", most + 10)]) {
      const answer = await service.fetch(path);
      await answer.arrayBuffer();
      later.push(answer.status);
    }

    assert.deepEqual(new Set(burst), new Set([200, 503]));
    assert.deepEqual(later, [...Array(most + 10).fill(404), ...Array(most + 10).fill(200)]);
  },
);

test("a request after a change gets a new page, not the one requested before it", async (t) => {
  const { app, fetch, post } = await startApp(t);

  const before = fetch("/clients").then((answer) => answer.text());
  await post("/clients", { name: "Northwind" });
  const after = await (await fetch("/clients")).text();

  assert.match(after, /Northwind/);
  assert.match(await before, /<h1>Clients/);
  assert.equal(app.store.clients.count(), 1);
});

/** A path of an existing record for a route. */
function pathOf(pattern: RegExp): string {
  const path = pattern.source.slice(1, -1).replaceAll("\\", "");
  if (path.startsWith("/help/")) return "/help/intune";
  const values = ["/packages", "/static"].some((place) => path.startsWith(place)) ? [] : ["1"];
  values.push(path.includes("/static") ? "app.css" : path.includes("/packages") ? "rmm?ids=1" : "install");
  return values.reduce((filled, value) => filled.replace("([^/]+)", value), path);
}

/** A service with sign-in, and a client that is signed in as administrator. */
async function startAsAdmin(t: TestContext) {
  const service = await startClosed(t);
  return { service, ...client(service.url, { cookie: await signInAdmin(service) }) };
}

test("exactly the routes that answer with a page wait in the queue of pages", async (t) => {
  const { service, fetch, post, addPrinter } = await startAsAdmin(t);
  await post("/clients", { name: "Northwind" });
  await addPrinter({ client_id: "1" });

  const gets = selectCases(
    routes.filter(({ method }) => method === "GET"),
    25,
  );
  const wrong: string[] = [];
  for (const { pattern, answerKind: answers } of gets) {
    const path = pathOf(pattern);
    const ask = path === "/sign-in" ? service.fetch : fetch;
    const answer = await ask(path, { headers: { accept: "text/html" } });
    await answer.arrayBuffer();
    const isHtml = answer.status === 200 && answer.headers.get("content-type")?.includes("html") === true;
    if (isHtml !== (answers === "page")) wrong.push(`${path} ${answer.status}`);
  }

  assert.deepEqual(wrong, []);
  assert.ok(defaultLimits.pages >= 100);
});

test("reading headers takes linear time", async () => {
  const headers: Record<string, (size: number) => Record<string, string>> = {
    "Range of blanks": (size) => ({ range: `bytes=${" ".repeat(size)}-${" ".repeat(size)}x` }),
    "Range of hyphens": (size) => ({ range: `bytes=${"-".repeat(size)}` }),
    "Range of digits": (size) => ({ range: `bytes=${"1".repeat(size)}-${"2".repeat(size)}` }),
    "Range of ranges": (size) => ({ range: `bytes=${"0-1,".repeat(size / 4)}` }),
    "If-None-Match of tags": (size) => ({ "if-none-match": '"x",'.repeat(size / 4) }),
    "If-None-Match of blanks": (size) => ({ "if-none-match": `${" ".repeat(size)}x${" ".repeat(size)}` }),
  };
  for (const [what, make] of Object.entries(headers)) {
    await assertLinearTime(what, 100_000, (size) => {
      requestedRange(make(size), 1000, '"tag"');
      isNotModified(make(size), '"tag"');
    });
  }
});
