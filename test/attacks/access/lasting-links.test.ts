import assert from "node:assert/strict";
import { test } from "node:test";
import { downloadPathIn, startGuarded } from "../../support/access/guarded.ts";
import { addPerson, signInAdmin, startClosed } from "../../support/access/people.ts";
import type { client, TestApp } from "../../support/app.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";

const dayMs = 24 * 60 * 60_000;
const noon = Date.UTC(2026, 10, 21, 12);
const install = "/printers/1/scripts/install";

/** The link that a page shows. */
function linkIn(page: string): string {
  return /\/[a-z]+\/\d+\/(?:scripts|packages)\/\w+\?link=[\w.-]+/.exec(page)?.[0] ?? page;
}

async function scriptOf(
  { fetch }: Pick<ReturnType<typeof client>, "fetch">,
  path = install,
): Promise<string> {
  const answer = await fetch(path);
  assert.equal(answer.status, 200, path);
  return answer.text();
}

async function answerOf({ fetch }: Pick<TestApp, "fetch">, path: string): Promise<string> {
  const answer = await fetch(path);
  return `${answer.status}${answer.status === 200 ? "" : ` ${/This link [^.,:]*/.exec(await answer.text())?.[0]}`}`;
}

const isOver = "403 This link expired";

test("links of a disabled or deleted account have ended, and no later account revives them", async (t) => {
  const app = await startClosed(t);
  const boss = await signInAdmin(app);
  const tech = await addPerson(app, "tech", "operator");
  const driver = await app.upload("/drivers/upload", driverZip(), "d.zip", { cookie: tech });
  assert.ok(driver.status < 400);
  await app.post(
    "/printers",
    { name: "Office", driver_id: "1", address: "10.0.0.9", connection: "raw" },
    { cookie: tech },
  );
  const asTech = { fetch: (path: string) => app.fetch(path, { headers: { cookie: tech } }) };
  const page = await app.post("/printers/1/links", { address: install, days: "90" }, { cookie: tech });
  const link = linkIn(await page.text());
  const files = downloadPathIn(await scriptOf(asTech));
  // A script fetched with the link contains a link of the same account.
  const handedOn = downloadPathIn(await scriptOf(app, link));
  const ask = () => Promise.all([link, files, handedOn].map((path) => answerOf(app, path)));

  const before = await ask();
  await app.post("/accounts/2/disable", {}, { cookie: boss });
  const disabled = await ask();
  await app.post("/accounts/2/enable", {}, { cookie: boss });
  const enabled = await ask();
  await app.post("/accounts/2/delete", {}, { cookie: boss });
  await addPerson(app, "tech", "operator");
  const deleted = await ask();

  assert.deepEqual([before, enabled], [Array(3).fill("200"), Array(3).fill("200")]);
  assert.deepEqual([disabled, deleted], [Array(3).fill(isOver), Array(3).fill(isOver)]);
});

test("links in a token's scripts end when the token is revoked or expires", async (t) => {
  let now = noon;
  const { service, admin, addToken, bearer } = await startGuarded(t, { clock: () => now, linkDays: 1000 });
  await admin.addPrinter();
  const [short, long] = [await addToken("printer:1", "30"), await addToken("read", "365")];
  const scripts = await Promise.all([short, long].map((token) => scriptOf(bearer(token))));
  const addresses = scripts.map(downloadPathIn);
  const ask = () => Promise.all(addresses.map((path) => answerOf(service, path)));

  const before = await ask();
  now += 30 * dayMs - 1;
  const atLast = await ask();
  now += 1;
  const expired = await ask();
  await admin.post("/tokens/2/delete", {});
  const revoked = await ask();

  assert.deepEqual([before, atLast], [Array(2).fill("200"), Array(2).fill("200")]);
  assert.deepEqual(expired, [isOver, "200"]);
  assert.deepEqual(revoked, [isOver, isOver]);
});

test("the link in a script that was fetched with a link ends no later than that", async (t) => {
  let now = noon;
  const { service, operator, admin } = await startGuarded(t, { clock: () => now });
  await admin.addPrinter();
  const page = await operator.post("/printers/1/links", { address: install, days: "1" });
  const link = linkIn(await page.text());
  const files = downloadPathIn(await scriptOf(service, link));
  const ask = () => Promise.all([link, files].map((path) => answerOf(service, path)));

  now = Date.UTC(2026, 10, 23) - 1;
  const atLast = await ask();
  now += 1;
  const after = await ask();

  assert.deepEqual(atLast, ["200", "200"]);
  assert.deepEqual(after, ["403 This link expired on 2026-11-23", "403 This link expired on 2026-11-23"]);
});

test("ending the links of a printer or client ends those in its scripts, and no others", async (t) => {
  const { service, operator, viewer, admin } = await startGuarded(t);
  await admin.post("/clients", { name: "Contoso" });
  await admin.addPrinter({ client_id: "1" });
  await admin.addPrinter({ name: "Other", driver_id: "1" });
  const paths = [
    install,
    "/printers/2/scripts/install",
    "/clients/1/scripts/install",
    "/drivers/1/scripts/install",
  ];
  const addresses = await Promise.all(
    paths.map(async (path) => downloadPathIn(await scriptOf(viewer, path))),
  );
  const ask = () => Promise.all(addresses.map(async (path) => (await service.fetch(path)).status));

  const before = await ask();
  await operator.post("/printers/1/links/end", {});
  const printer = await ask();
  await operator.post("/clients/1/links/end", {});
  const client = await ask();
  const deletion = await admin.post("/printers/2/delete", {});
  const ended = await ask();
  await operator.post("/drivers/1/links/end", {});
  const driver = await ask();

  assert.equal(deletion.ok, true);
  assert.deepEqual(before, [200, 200, 200, 200]);
  assert.deepEqual(printer, [403, 200, 200, 200]);
  assert.deepEqual(client, [403, 200, 403, 200]);
  assert.deepEqual(ended, [403, 403, 403, 200]);
  assert.deepEqual(driver, [403, 403, 403, 403]);
});

test("the maker, the printer and the end in a link cannot be removed or replaced", async (t) => {
  const { service, admin, addToken, bearer } = await startGuarded(t);
  await admin.addPrinter();
  const files = downloadPathIn(await scriptOf(bearer(await addToken("read"))));
  const [, start = "", day = "", mac = ""] = /^(.*link=)(\w{3})\.t1p1\.(.*)$/.exec(files) ?? [];
  const later = (Number.parseInt(day, 36) + 1).toString(36);
  const terms = [
    `${day}.`,
    `${day}.t1`,
    `${day}.p1`,
    `${day}.t2p1`,
    `${day}.a1p1`,
    `${day}.t1c1`,
    `${later}.t1p1`,
  ];

  const right = await service.fetch(`${start}${day}.t1p1.${mac}`);
  const wrong = await Promise.all(terms.map((text) => answerOf(service, `${start}${text}.${mac}`)));

  assert.equal(right.status, 200);
  assert.deepEqual([...new Set(wrong)], ["403 This link is not valid"]);
});
