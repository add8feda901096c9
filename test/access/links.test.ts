import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { linkEndDay, signLink } from "../../src/domain/access/link.ts";
import { keyFor, signatureOf } from "../../src/domain/secrets.ts";
import { dayMs } from "../../src/domain/text.ts";
import { filesPathOf, linkIn, startGuarded, statusesOf } from "../support/access/guarded.ts";
import { navigation, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

const noon = Date.UTC(2026, 10, 21, 12);
const install = "/printers/1/scripts/install";
const page = { accept: "text/html" };

/** A service with sign-in, two printers with a driver each, and links to the first printer and driver. */
async function startLinked(t: TestContext, options: Parameters<typeof startGuarded>[1] = {}) {
  const guarded = await startGuarded(t, options);
  const { admin, viewer, linkTo } = guarded;
  await admin.addPrinter();
  const other = await admin.addDriver(driverZip({ extra: [{ name: "other.txt", bytes: "x" }] }));
  await admin.addPrinter({ name: "Other", driver_id: String(other) });
  return {
    ...guarded,
    script: await linkTo(install),
    apart: await linkTo("/printers/1/packages/rmm?driver=apart"),
    files: await filesPathOf(viewer, "/drivers/1/scripts/install"),
  };
}

const linkValue = (address: string) => /link=(.*)$/.exec(address)?.[1] ?? "";

test("the page of a link shows its end and commands to download with it, and warns of a loopback address", async (t) => {
  const { operator, admin } = await startGuarded(t, { allowedHosts: ["platen.example"] });
  await admin.addPrinter();
  const https = { "x-forwarded-host": "platen.example", "x-forwarded-proto": "https" };
  const made = async (address: string, headers: Record<string, string> = https) => {
    const form = { address, days: "30" };
    const answer = await operator.post("/printers/1/links", form, { ...navigation, ...headers });
    assert.equal(answer.headers.get("cache-control"), "no-store");
    return (await answer.text()).replaceAll("&#39;", "'").replaceAll("&amp;", "&").replaceAll("&quot;", '"');
  };

  const script = await made(install);
  const apart = await made("/printers/1/packages/rmm?driver=apart");
  const here = await made(install, {});

  assert.ok(script.includes('datetime="2026-12-22T00:00:00.000Z"'));
  const host = String.raw`https:\/\/platen\.example\/printers\/1`;
  const fetched = String.raw`Invoke-WebRequest -UseBasicParsing -Uri '${host}\/scripts\/install\?link=[\w.-]+' -OutFile \$f`;
  assert.match(script, new RegExp(fetched));
  const url = String.raw`${host}\/packages\/rmm\?driver=apart&link=[\w.-]+`;
  assert.match(apart, new RegExp(String.raw`-Uri '${url}' -OutFile '[\w-]+\.zip'`));
  assert.match(apart, new RegExp(`curl -fOJ "${url}"`));
  assert.match(here, /work only on the Platen server[\s\S]*<code>PUBLIC_URL<\/code>/);
  assert.doesNotMatch(script, /only on the Platen server/);
  assert.match(here, /[0-9A-Fa-f]{64}/, "over http, a command checks the script");
});

test("only operators are offered links, and one with a wrong target, validity or sender is refused", async (t) => {
  const { service, admin, operator, viewer } = await startGuarded(t, { linkDays: 45, clock: () => noon });
  await admin.addPrinter();
  await admin.post("/printers", { name: "Bare", address: "10.0.0.1" });
  const open = await startApp(t);
  await open.addPrinter();
  const senders = [operator, viewer, open].map(async ({ fetch }) => (await fetch("/printers/1")).text());
  const pages = await Promise.all(senders);
  const choices = /id="link-days"[\s\S]*?<\/select>/.exec(pages[0] ?? "")?.[0] ?? "";
  const ask = async (id: number, address: string, days = "7", { post } = operator) =>
    (await post(`/printers/${id}/links`, { address, days })).status;

  const made = await operator.post("/printers/1/links", { address: install, days: "45" });
  const ofDays = await Promise.all(["2", "0", "-1", "1e2", "36500"].map((days) => ask(1, install, days)));
  const others = [
    await ask(1, "/printers/2/scripts/install"),
    await ask(1, "https://evil.example/"),
    await ask(2, "/printers/2/scripts/install"),
    await ask(9, install),
    await ask(1, install, "7", viewer),
    await ask(1, install, "7", open),
  ];

  const has = (text: string) => pages.map((shown) => shown.includes(text));
  assert.deepEqual(has('action="/printers/1/links"'), [true, false, false]);
  // With sign-in, no command contains an address without a link.
  assert.deepEqual(has("Invoke-WebRequest"), [false, false, true]);
  const offered = choices.match(/"\d+"(?: selected)?/g)?.join();
  assert.equal(offered, '"1","7","30","45" selected,"90"');
  assert.equal((await service.fetch(linkIn(await made.text()))).status, 200);
  assert.deepEqual(ofDays, [422, 422, 422, 422, 422]);
  assert.deepEqual(others, [422, 422, 422, 404, 403, 404]);
});

test("ending a record's links or deleting it ends also those in its scripts, and neither later nor others' links", async (t) => {
  const { service, admin, operator, viewer, linkTo } = await startGuarded(t);
  await admin.post("/clients", { name: "Contoso" });
  await admin.addPrinter({ client_id: "1" });
  await admin.addPrinter({ name: "Other", driver_id: "1" });
  const records = ["/printers/1", "/printers/2", "/clients/1", "/drivers/1"];
  const scripts = records.map((path) => `${path}/scripts/install`);
  const links = await Promise.all(scripts.map((path) => linkTo(path, "1")));
  const files = await Promise.all(scripts.map((path) => filesPathOf(viewer, path)));
  const places: string[] = [];

  const statuses = [await statusesOf(service, links)];
  for (const path of [
    "printers/1/links/end",
    "clients/1/links/end",
    "printers/2/delete",
    "drivers/1/links/end",
  ]) {
    const answer = await operator.post(`/${path}`, {}, navigation);
    const place = answer.headers.get("location") ?? "";
    if (path.endsWith("end"))
      assert.match(await (await operator.fetch(place)).text(), /All its links have ended\./);
    places.push(place.replace(/undo=\d+.*/, "undo"));
    statuses.push(await statusesOf(service, links));
    assert.deepEqual(await statusesOf(service, files), statuses.at(-1), path);
  }

  const pages = "/printers/1?done=links /clients/1?done=links /printers?undo /drivers/1?done=links";
  assert.equal(places.join(" "), pages);
  assert.deepEqual(statuses, [
    [200, 200, 200, 200],
    [403, 200, 200, 200],
    [403, 200, 403, 200],
    [403, 403, 403, 200],
    [403, 403, 403, 403],
  ]);
  assert.deepEqual(await statusesOf(service, [await linkTo(install)]), [200]);
});

test("a link opens no other path, query, printer or driver", async (t) => {
  const { service, script, apart, files } = await startLinked(t);
  const [ofScript, ofApart, ofFiles] = [linkValue(script), linkValue(apart), linkValue(files)];
  const wrong = [
    `/printers/2/scripts/install?link=${ofScript}`,
    `/printers/1/scripts/detect?link=${ofScript}`,
    `/printers/1/packages/rmm?link=${ofScript}`,
    `/printers/1/packages/rmm?link=${ofApart}`,
    `/printers/1/packages/mdm?driver=apart&link=${ofApart}`,
    `/printers/1/packages/rmm?driver=apart&driver=apart&link=${ofApart}`,
    `/printers/1/scripts/install?all=1&link=${ofScript}`,
    `${script}&all=1`,
    `${script}&link=${ofScript}`,
    `/clients/1/scripts/install?link=${ofScript}`,
    `/drivers/2/files?link=${ofFiles}`,
    `/drivers/1/scripts/install?link=${ofFiles}`,
    `/printers/1/scripts/%69nstall?link=${ofScript}`,
    `/printers/%31/scripts/install?link=${ofScript}`,
    `/printers/2/../1/packages/rmm?link=${ofScript}`,
  ];
  const right = [script, apart, files, `/printers/2/../1/scripts/install?link=${ofScript}`];

  for (const method of ["GET", "HEAD"]) {
    assert.deepEqual(await statusesOf(service, wrong, { method }), Array(wrong.length).fill(403), method);
    assert.deepEqual(await statusesOf(service, right, { method }), Array(4).fill(200), method);
  }
});

test("a link with a changed character, end or record, or with another key's signature, opens nothing", async (t) => {
  const { service, script, addToken, bearer } = await startLinked(t);
  const start = script.indexOf("link=") + "link=".length;
  const changed = Array.from({ length: script.length - start }, (_, i) => {
    const at = start + i;
    return script.slice(0, at) + (script[at] === "a" ? "b" : "a") + script.slice(at + 1);
  });
  const { created_at } = service.app.store.links.find(1) ?? { created_at: 0 };
  const foreign = signLink(new Uint8Array(32), { id: 1, created_at }, 40_000, install);
  const mac = "A".repeat(22);
  const odd = [
    ...["", ".", "a.b", "0".repeat(5000), `${foreign}=`, `1e9..${mac}`, `1e9.a1p1.${mac}`],
    ...[`1-1e9.${mac}`, `0-1e9.${mac}`, `zzzzzzzzzz-1e9.${mac}`, `-1.${mac}`, foreign],
  ].map((text) => `${install}?link=${encodeURIComponent(text)}`);
  const files = await filesPathOf(bearer(await addToken("read")), install);
  const [, before = "", id = "", day = "", signature = ""] =
    /^(.*link=)(\w)-(\w{3})\.(.*)$/.exec(files) ?? [];
  const later = (Number.parseInt(day, 36) + 1).toString(36);
  const terms = [`1-${day}`, `${id}-${later}`, `9-${day}`];
  const altered = terms.map((term) => `${before}${term}.${signature}`);

  assert.deepEqual(new Set(await statusesOf(service, [...changed, ...odd])), new Set([403]));
  assert.equal((await service.fetch(files)).status, 200);
  for (const path of altered) {
    const answer = await service.fetch(path);
    assert.match(`${answer.status} ${await answer.text()}`, /^403 .*This link is not valid/s, path);
  }
});

/** The address of a link as version 1.0 signed it, without saving it. @param terms such as `g1b.a2p7` */
function oldLink({ app: { store } }: TestApp, address: string, terms: string, digest = ""): string {
  const [, kind = "", number] = /^\/(\w+)s\/(\d+)/.exec(address) ?? [];
  const id = Number(number);
  const createdAt = {
    printer: store.printers.get(1).printer.created_at,
    driver: store.drivers.get(1).uploaded_at,
  };
  const versionOf = (kind: "printer" | "driver", id: number) => [
    store.links.generationOf({ kind, id }),
    createdAt[kind],
  ];
  const source = terms.endsWith("p1") ? [versionOf("printer", 1)] : [];
  const version = JSON.stringify([
    store.links.epoch(),
    digest,
    versionOf(kind as "printer" | "driver", id),
    ...source,
  ]);
  const signature = signatureOf(keyFor("links", store.secret), [kind, id, address, version, terms]);
  return `${address}?link=${terms}.${signature.slice(0, 22)}`;
}

test("links of version 1.0 are valid until their day, and end with their token, record or database", async (t) => {
  let now = noon;
  const { service, operator, admin, addToken } = await startLinked(t, { clock: () => now });
  await addToken("read");
  const day = linkEndDay(noon, 7).toString(36);
  const digest = service.app.store.drivers.get(1).sha256;
  const links = [
    oldLink(service, install, `${day}.`),
    oldLink(service, install, `${day}.t1`),
    oldLink(service, "/drivers/1/files", `${day}.p1`, digest),
  ];
  // A script that an old link opened has links, too.
  const handedOn = await filesPathOf(service, links[1] ?? "");
  const ask = () => statusesOf(service, [...links, handedOn]);

  const statuses = [await ask()];
  await admin.post("/tokens/1/delete", {});
  statuses.push(await ask());
  now = linkEndDay(noon, 7) * dayMs;
  statuses.push(await ask());
  now = noon;
  await operator.post("/printers/1/links/end", {});
  statuses.push(await ask());
  const other = oldLink(service, "/drivers/1/files", `${day}.`, digest);
  const [before] = await statusesOf(service, [other]);
  await service.app.store.links.endAll();

  assert.deepEqual(statuses, [
    [200, 200, 200, 200],
    [200, 403, 200, 403],
    [403, 403, 403, 403],
    [403, 403, 403, 403],
  ]);
  assert.deepEqual([before, ...(await statusesOf(service, [other]))], [200, 403]);
});

test("links end with their maker’s access, also those of version 1.0 and those from before the account", async (t) => {
  const dataDir = await temporaryFolder(t);
  const at = { dataDir, clock: () => noon };
  const { service, admin, script } = await startLinked(t, at);
  await admin.post("/accounts", { name: "Tech", role: "operator" });
  const links = [script, oldLink(service, install, `${linkEndDay(noon, 7).toString(36)}.a1`)];
  const listed = async () =>
    (await (await admin.fetch("/tokens")).text()).match(/link to \/[^<]+|>Deleted</g);

  const before = await statusesOf(service, links);
  await admin.post("/accounts/1/sessions/end", {});
  const ended = await statusesOf(service, links);
  const left = await listed();
  await admin.post("/drivers/1/delete", {});
  await admin.post("/printers/1/delete", {});
  await admin.post("/drivers/1/delete", {});
  const ofDeleted = await listed();
  await service.stop();
  rmSync(join(dataDir, "secret"));
  const again = await startGuarded(t, at);
  const withNewSecret = again.service.app.links.list();

  assert.deepEqual([before, ended], [Array.of(200, 200), Array.of(403, 403)]);
  const ofDriver = "link to /drivers/1/scripts/install";
  assert.ok(left?.includes(ofDriver) && !left.includes(">Deleted<"));
  assert.ok(ofDeleted?.includes(ofDriver) && ofDeleted.includes(">Deleted<"));
  assert.deepEqual(withNewSecret, []);
});

test("links are listed with their maker and end one by one, on their record's page and on Tokens", async (t) => {
  const { service, admin, operator, viewer, linkTo } = await startGuarded(t);
  await admin.addPrinter();
  const links = [await linkTo(install), await linkTo("/printers/1/packages/rmm")];
  const files = [await filesPathOf(viewer, install), await filesPathOf(operator, install)];
  const again = await filesPathOf(viewer, install);
  const rows = async (path: string) =>
    (await (await admin.fetch(path)).text()).match(/links\/\d+\/delete[^"]*/g)?.join(" ");
  const ask = () => statusesOf(service, [...links, ...files]);

  const listed = [await rows("/printers/1"), await rows("/tokens"), await rows("/drivers/1")];
  const page = await (await operator.fetch("/printers/1")).text();
  const refused = (await viewer.post("/links/1/delete", {})).status;
  const first = await operator.post("/links/1/delete", {}, navigation);
  const afterFirst = await ask();
  const third = await admin.post("/links/3/delete?from=tokens", {}, navigation);
  const afterThird = await ask();
  const missing = (await operator.fetch("/links/1", { method: "DELETE" })).status;

  const ends = [4, 3, 2, 1].map((id) => `links/${id}/delete`);
  assert.deepEqual(listed, [ends.join(" "), ends.map((path) => `${path}?from=tokens`).join(" "), undefined]);
  assert.match(page, /inside the downloaded script[\s\S]*<bdi>seller</);
  assert.equal(again, files[0], "a script keeps its link, and no second one is saved");
  assert.deepEqual([refused, missing], [403, 404]);
  const places = [first, third].map(({ headers }) => headers.get("location"));
  assert.deepEqual(places, ["/printers/1?done=link", "/tokens?done=link"]);
  assert.deepEqual([afterFirst, afterThird], [Array.of(403, 200, 200, 200), Array.of(403, 200, 403, 200)]);
  const entries = (await logEntries(service, "links-ended")).map(
    ({ who, record, what }) => `${who}: ${record?.name}: ${what}`,
  );
  assert.equal(entries[0], `tech: Office: ${install}, until 2026-11-29, made by tech`);
  assert.match(entries[1] ?? "", /^boss: Office: in \S+, until 2026-12-22, made by seller$/);
});

test("a link changes nothing and opens no page, and an ended one is answered with a remedy", async (t) => {
  let now = noon;
  const { service, script } = await startLinked(t, { clock: () => now });
  const paths = ["/printers/1", "/printers", "/", "/tokens", "/printers/1/edit"];
  const linked = paths.map((path) => `${path}?link=${linkValue(script)}`);

  for (const method of ["POST", "DELETE", "PUT"])
    assert.deepEqual(await statusesOf(service, [script], { method }), [401], method);
  const statuses = await statusesOf(service, linked, { headers: page });
  now = Date.UTC(2026, 10, 29) - 1;
  const [atLast] = await statusesOf(service, [script]);
  now += 1;
  const ended = await service.fetch(script, { headers: page });

  assert.ok(statuses.every((status) => status === 303 || status === 401));
  assert.deepEqual([atLast, ended.status, ended.headers.get("location")], [200, 403, null]);
  assert.match(await ended.text(), /This link has ended on 2026-11-29\..*download the script again/);
  assert.equal(linkEndDay(noon, 7) * dayMs, Date.UTC(2026, 10, 29));
});

test("a request with a link ignores sessions and tokens, and no answer to it is for shared caches", async (t) => {
  const { service, admin, script, files, addToken, bearer } = await startLinked(t);
  const wrong = script.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  const etag = (await service.fetch(files)).headers.get("etag") ?? "";

  const refused = [await admin.fetch(wrong), await bearer(await addToken("read")).fetch(wrong)];
  const answers = [
    await admin.fetch(script),
    await service.fetch(files, { method: "HEAD" }),
    await service.fetch(files, { headers: { range: "bytes=10-19", "if-range": etag } }),
    await service.fetch(files, { headers: { "if-none-match": etag } }),
  ];

  const statuses = [...refused, ...answers].map(({ status }) => status);
  assert.deepEqual(statuses, [403, 403, 200, 200, 206, 304]);
  for (const { headers } of answers) assert.equal(headers.get("cache-control"), "private, no-cache");
  for (const { headers } of [...refused, ...answers]) assert.equal(headers.get("set-cookie"), null);
});

test("a link to a deleted record does not open a later one, and ended links stay ended after an undo", async (t) => {
  const { service, admin, script, files } = await startLinked(t);
  await admin.post("/printers/1/links/end", {});
  const removed = await admin.post("/printers/1/delete", {}, navigation);

  const deleted = (await service.fetch(script)).status;
  const next = await admin.addPrinter({ name: "Next", driver_id: "1" });
  const moved = (await service.fetch(script.replace("/printers/1/", `/printers/${next}/`))).status;
  const deletion = /undo=(\d+)/.exec(removed.headers.get("location") ?? "")?.[1] ?? "1";
  await admin.post(`/deletions/${deletion}/undo`, {});
  const back = [(await admin.fetch("/printers/1")).status, (await service.fetch(script)).status];
  await admin.post("/drivers/1/links/end", {});
  const driver = (await service.fetch(files)).status;

  assert.deepEqual([deleted, moved, ...back, driver], [403, 403, 200, 403, 403]);
});
