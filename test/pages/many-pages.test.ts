import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { defaultLimits } from "../../src/http/requests/limits.ts";
import { routes } from "../../src/http/routes.ts";
import { signInAdmin, startClosed } from "../support/access/people.ts";
import { pathOf, routeCases } from "../support/access/route-cases.ts";
import { client, startApp, type TestApp } from "../support/app.ts";
import { textOf } from "../support/deploy/answers.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { connectRaw, statusOf } from "../support/raw.ts";
import { assertWithin, longestBlock } from "../support/times.ts";

/** Requests each path on a connection of its own, all at once. @returns the status of each response */
async function requestAll({ url }: TestApp, paths: readonly string[], from?: string): Promise<number[]> {
  const raws = await Promise.all(paths.map(() => connectRaw(url, from)));
  raws.forEach(({ socket }, i) => void socket.write(`GET ${paths[i]} HTTP/1.1\r\nHost: localhost\r\n\r\n`));
  const answers = await Promise.all(raws.map((raw) => raw.until(/\r\n\r\n/)));
  for (const { socket } of raws) socket.destroy();
  return answers.map(statusOf);
}

const fromMany =
  "400 connections that request a long page at once do not block other clients, and are made or refused";
const skip = process.platform !== "linux" && "only Linux has all of 127.0.0.0/8";
deepTest(fromMany, { skip }, async (t) => {
  const service = await startApp(t);
  const { store, overview } = service.app;
  const settings = parsePrinter({ name: "Office", address: "10.0.0.1" });
  await Promise.all(Array.from({ length: 2000 }, () => store.printers.add(settings)));
  await textOf(service.fetch("/printers"));
  const made = t.mock.method(overview, "read").mock;
  let other: number[] = [];
  let [isFlooded, isAnsweredFirst] = [true, false];

  const different = Array.from({ length: 400 }, (_, i) => `/printers?n=${i}`);
  const flood = requestAll(service, different, "127.0.0.2");
  void flood.then(() => {
    isFlooded = false;
  });
  while (made.callCount() === 0) await new Promise(setImmediate);
  const hold = await longestBlock(async () => {
    other = await requestAll(service, ["/health"], "127.0.0.3");
    isAnsweredFirst = isFlooded;
    other.push(...(await requestAll(service, ["/printers"], "127.0.0.3")));
  });
  const before = made.callCount();
  const statuses = await flood;

  t.diagnostic(`held for ${Math.round(hold)} ms, ${before} pages were made before another client’s`);
  const refused = statuses.filter((status) => status === 503).length;
  assert.deepEqual([other, isAnsweredFirst], [[200, 200], true]);
  assert.ok(statuses.every((status) => status === 200 || status === 503) && refused >= 50, `${refused}`);
  assert.ok(before <= defaultLimits.pages, `${before} pages`);
  assert.equal(made.callCount(), 401 - refused, "refused pages are not made");
  await assertWithin(1000, { hold });
});

test("of a burst of pages the excess is refused, then single requests are answered, also for pages that do not exist", async (t) => {
  const service = await startApp(t, { limits: { pages: 8 } });

  // Equal requests share one page.
  const burst = await requestAll(
    service,
    Array.from({ length: 12 }, (_, i) => `/clients?q=${i}`),
  );
  const later: number[] = [];
  for (const path of [...Array<string>(9).fill("/clients/99"), ...Array<string>(9).fill("/clients")]) {
    const answer = await service.fetch(path);
    await answer.arrayBuffer();
    later.push(answer.status);
  }

  assert.deepEqual(new Set(burst), new Set([200, 503]));
  assert.deepEqual(later, [...Array(9).fill(404), ...Array(9).fill(200)]);
  assert.ok(defaultLimits.pages >= 100);
});

test("a request after a change gets a new page, not the one requested before it", async (t) => {
  const { fetch, post } = await startApp(t);

  const before = textOf(fetch("/clients"));
  await post("/clients", { name: "Northwind" });
  const after = await textOf(fetch("/clients"));

  assert.match(after, /Northwind/);
  assert.match(await before, /<h1>Clients/);
});

test("exactly the routes that answer with a page wait in the queue of pages", async (t) => {
  const service = await startClosed(t);
  const admin = client(service.url, { cookie: await signInAdmin(service) });
  await admin.post("/clients", { name: "Northwind" });
  await admin.addPrinter({ client_id: "1" });
  const reading = routes.filter(({ method }) => method === "GET");

  const wrong: string[] = [];
  for (const { path: pattern, answerKind } of selectCases(reading, 25)) {
    const { query = "" } = routeCases[`GET ${pattern}`] ?? {};
    const asker = pattern === "/sign-in" ? service : admin;
    const path = `${pathOf(pattern.replace(":id", "1"), "x")}?${query}`;
    const { status, headers } = await asker.fetch(path, { headers: { accept: "text/html" } });
    const isHtml = status === 200 && headers.get("content-type")?.includes("html") === true;
    if (isHtml !== (answerKind === "page")) wrong.push(`${path} ${status}`);
  }

  assert.deepEqual(wrong, []);
});
