import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { parsePrinter } from "../../src/domain/printer-fields.ts";
import { defaultLimits, makeQuotas } from "../../src/http/requests/limits.ts";
import { Pages } from "../../src/http/requests/page-turns.ts";
import { routes } from "../../src/http/routes.ts";
import { client, startApp, type TestApp } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import { signInAdmin, startClosed } from "../support/people.ts";
import { connectRaw, statusOf } from "../support/raw.ts";
import { longestHold } from "../support/times.ts";
import { until } from "../support/until.ts";

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
  "a page that four hundred connections ask for at once is made a few times, and nobody is held up",
  async (t) => {
    const service = await startApp(t);
    await fill(service, 2000);
    await (await service.fetch("/printers")).text();
    const reads = countReads(service);

    const statuses: number[] = [];
    const hold = await longestHold(async () => {
      statuses.push(...(await askAll(service, Array<string>(400).fill("/printers"))));
    });

    t.diagnostic(`held for ${Math.round(hold)} ms, made ${reads()} times`);
    assert.ok(reads() <= 40, `it was made ${reads()} times`);
    assert.ok(statuses.every((status) => status === 200 || status === 503));
    assert.ok(hold < 1000, `${hold} ms`);
  },
);

deepTest(
  "different pages are made one after the other, others are answered in between, and too many are refused unmade",
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

deepTest(
  "a client that asks for many pages keeps no other one from its page",
  {
    skip: process.platform !== "linux" && "only Linux has all of 127.0.0.0/8",
  },
  async (t) => {
    const service = await startApp(t);
    await fill(service, 2000);
    const order: string[] = [];
    const reads = countReads(service);
    const ask = async (who: string, paths: readonly string[], from: string) => {
      const statuses = await askAll(service, paths, from);
      order.push(who);
      return statuses;
    };

    const many = ask(
      "many",
      Array.from({ length: 120 }, (_, i) => `/printers?x=${i}`),
      "127.0.0.2",
    );
    while (reads() === 0) await new Promise(setImmediate);
    const one = await ask("one", ["/printers?y=1"], "127.0.0.3");
    await many;

    assert.deepEqual(one, [200]);
    assert.deepEqual(order, ["one", "many"]);
  },
);

test("who takes none of its pages is refused the next one before it is made", async (t) => {
  const service = await startApp(t, { limits: { pageBytes: 1_600_000 } });
  await fill(service, 900);
  await (await service.fetch("/printers")).text();
  const reads = countReads(service);
  // One alone, and nobody beside it: others would be refused before what the system takes of their answers is full.
  const { socket } = await connectRaw(service.url);
  socket.pause();
  socket.write("GET /printers HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(30));
  const ask = async () => {
    const answer = await service.fetch("/printers", { headers: { "accept-encoding": "identity" } });
    await answer.arrayBuffer();
    return answer;
  };
  let before = -1;
  await until(async () => {
    before = reads();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return before > 1 && reads() === before;
  });
  await until(async () => {
    before = reads();
    return (await ask()).status === 503 && reads() === before;
  });

  const refused = await ask();
  const made = reads() - before;
  socket.destroy();

  assert.deepEqual([refused.status, refused.headers.get("retry-after"), made], [503, "5", 0]);
});

test("pages that came in before their client took none of the first are refused unmade, too", async () => {
  const quotas = makeQuotas({ ...defaultLimits, pageBytes: 100 });
  const pages = new Pages(quotas);
  const page = { kind: "text", status: 200, type: "text/html", body: "x".repeat(40) } as const;
  const made: string[] = [];
  const ask = (url: string, heldBytes = 0) =>
    pages.reply(Object.assign(new IncomingMessage(new Socket()), { url }), "/list", () => {
      made.push(url);
      quotas.pageBytes.take("", heldBytes);
      return page;
    });

  await ask("/list?first");
  const [held, late] = await Promise.allSettled([ask("/list?held", 40), ask("/list?late")]);

  assert.equal(held.status, "fulfilled");
  assert.match(late.status === "rejected" ? String(late.reason) : "", /Too many pages/);
  assert.deepEqual(made, ["/list?first", "/list?held"]);
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

test("what a request says of itself decides whom its page is shared with", async (t) => {
  const service = await startApp(t);
  await service.post("/clients", { name: "Northwind" });
  const shapeless = [
    "Accept-Encoding: identity",
    "Accept-Language: de",
    "Cache-Control: no-cache",
    "Content-Length: 0",
    "Cookie: a=b",
    "DNT: 1",
    "Pragma: no-cache",
    "Priority: u=0",
    "User-Agent: another",
  ];
  const said = ["", ...shapeless, "HX-Request: true\r\nHX-Target: results"];
  const raws = await Promise.all(said.map(() => connectRaw(service.url)));
  const reads = countReads(service);

  const close = "Host: localhost\r\nConnection: close\r\n";
  said.forEach((header, i) => {
    raws[i]?.socket.write(`GET /search?q=north HTTP/1.1\r\n${close}${header && `${header}\r\n`}\r\n`);
  });
  const answers = await Promise.all(raws.map(({ closed }) => closed));
  const [page, ...others] = answers.map((answer) => answer.split("\r\n\r\n")[1] ?? "");
  const part = others.pop() ?? "";

  assert.match(page ?? "", /<!doctype html>/i);
  assert.match(part, /Northwind/);
  assert.doesNotMatch(part, /<!doctype html>/i);
  assert.deepEqual(new Set(others), new Set([page]));
  assert.equal(reads(), 2, "the page is made once, and the part once");
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

test("every address that answers with a page waits for its turn, and no other does", async (t) => {
  const { service, fetch, post, addPrinter } = await startAsAdmin(t);
  await post("/clients", { name: "Northwind" });
  await addPrinter({ client_id: "1" });

  const gets = routes.filter(({ method }) => method === "GET");
  const wrong: string[] = [];
  for (const { pattern, isPage } of gets) {
    const path = pathOf(pattern);
    const ask = path === "/sign-in" ? service.fetch : fetch;
    const answer = await ask(path, { headers: { accept: "text/html" } });
    await answer.arrayBuffer();
    const isHtml = answer.status === 200 && answer.headers.get("content-type")?.includes("html") === true;
    if (isHtml !== isPage) wrong.push(`${path} ${answer.status}`);
  }

  assert.deepEqual(wrong, []);
  assert.ok(defaultLimits.pages >= 100);
});
