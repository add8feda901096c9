import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { defaultLimits } from "../../../src/http/requests/limits.ts";
import { routes } from "../../../src/http/routes.ts";
import { signInAdmin, startClosed } from "../../support/access/people.ts";
import { client, startApp, type TestApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { connectRaw, statusOf } from "../../support/raw.ts";
import { longestHold } from "../../support/times.ts";
import { until } from "../../support/until.ts";

async function fill({ app }: TestApp, count: number, fields: Record<string, string> = {}): Promise<void> {
  const settings = parsePrinter({ name: "Office", address: "10.0.0.1", ...fields });
  await Promise.all(Array.from({ length: count }, () => app.store.printers.add(settings)));
}

/** Asks on a connection for each path at once. @returns the status of each answer */
async function askAll({ url }: TestApp, paths: readonly string[], from?: string): Promise<number[]> {
  const raws = await Promise.all(paths.map(() => connectRaw(url, from)));
  raws.forEach(({ socket }, i) => void socket.write(`GET ${paths[i]} HTTP/1.1\r\nHost: localhost\r\n\r\n`));
  const answers = await Promise.all(raws.map((raw) => raw.until(/\r\n\r\n/)));
  for (const { socket } of raws) socket.destroy();
  return answers.map(statusOf);
}

/** The longest that the event loop is held while something runs, in milliseconds, and what comes of it. */
async function holdOf<T>(work: () => Promise<T>): Promise<[number, T | undefined]> {
  let result: T | undefined;
  const hold = await longestHold(async () => {
    result = await work();
  });
  return [hold, result];
}

/** Counts how often a list of printers is asked for to make a page. */
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
  "four hundred connections that ask for a long page at once leave another client its page, and hold nobody up",
  {
    skip: process.platform !== "linux" && "only Linux has all of 127.0.0.0/8",
  },
  async (t) => {
    const service = await startApp(t);
    await fill(service, 2000);
    await (await service.fetch("/printers")).text();
    const reads = countReads(service);

    const flood = askAll(service, Array<string>(400).fill("/printers"), "127.0.0.2");
    while (reads() === 0) await new Promise(setImmediate);
    const [hold, other] = await holdOf(() => askAll(service, ["/printers"], "127.0.0.3"));
    const before = reads();
    const statuses = await flood;

    t.diagnostic(`held for ${Math.round(hold)} ms, ${before} pages were made before another client’s`);
    assert.deepEqual(other, [200]);
    assert.ok(statuses.every((status) => status === 200 || status === 503));
    assert.ok(before <= defaultLimits.pages, `${before} pages`);
    assert.ok(hold < 1000, `${hold} ms`);
  },
);

deepTest(
  "pages are made a few at a time, others are answered in between, and too many are refused unmade",
  async (t) => {
    const service = await startApp(t, { limits: { pages: 40 } });
    await fill(service, 2000);
    await (await service.fetch("/printers")).text();
    const reads = countReads(service);
    const order: string[] = [];

    const asked = askAll(
      service,
      Array.from({ length: 200 }, (_, i) => `/printers?x=${i}`),
    ).then((statuses) => {
      order.push("pages");
      return statuses;
    });
    while (reads() === 0) await new Promise(setImmediate);
    const health = await service.fetch("/health");
    order.push("health");
    const statuses = await asked;

    assert.deepEqual(order, ["health", "pages"]);
    assert.equal(health.status, 200);
    const refused = statuses.filter((status) => status === 503).length;
    assert.ok(refused >= 50, `${refused} of 200 were refused`);
    assert.equal(reads(), 200 - refused, "what was refused was not made");
  },
);

test("who takes none of its pages has no more made, and is closed after the least time", async (t) => {
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
});

deepTest(
  "after too many pages at once, one after the other is answered, also where some of them do not exist",
  async (t) => {
    const service = await startApp(t);
    const addresses = (path: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${path}?x=${i}`);
    const most = defaultLimits.pages / 2;

    const burst = await askAll(service, addresses("/clients", 3 * most));
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

test("a page that was asked for before a change does not answer who asks after it", async (t) => {
  const { app, fetch, post } = await startApp(t);

  const before = fetch("/clients").then((answer) => answer.text());
  await post("/clients", { name: "Northwind" });
  const after = await (await fetch("/clients")).text();

  assert.match(after, /Northwind/);
  assert.match(await before, /<h1>Clients/);
  assert.equal(app.store.clients.count(), 1);
});

/** An address that fits a route, of something that is there. */
function pathOf(pattern: RegExp): string {
  const path = pattern.source.slice(1, -1).replaceAll("\\", "");
  const values = ["/packages", "/static"].some((place) => path.startsWith(place)) ? [] : ["1"];
  values.push(path.includes("/static") ? "app.css" : path.includes("/packages") ? "rmm?ids=1" : "install");
  return values.reduce((filled, value) => filled.replace("([^/]+)", value), path);
}

/** The service with sign-in on, and who asks it as its administrator. */
async function startAsAdmin(t: TestContext) {
  const service = await startClosed(t);
  return { service, ...client(service.url, { cookie: await signInAdmin(service) }) };
}

test("every address that answers with a page waits with other pages, and no other does", async (t) => {
  const { service, fetch, post, addPrinter } = await startAsAdmin(t);
  await post("/clients", { name: "Northwind" });
  await addPrinter({ client_id: "1" });

  const gets = routes.filter(({ method }) => method === "GET");
  const wrong: string[] = [];
  for (const { pattern, answers } of gets) {
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
