import assert from "node:assert/strict";
import { test } from "node:test";
import { roleOfGroups } from "../../src/domain/access/proxies.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startClosed } from "../support/access/people.ts";
import { groupedProxies, namingProxies, proxiesOf } from "../support/access/proxies.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { exchange, statusOf } from "../support/raw.ts";

const page = { accept: "text/html" };

/** Sends a GET with header lines. @returns the answer's text */
async function get(url: string, lines: readonly string[], path = "/printers"): Promise<string> {
  const head = [`GET ${path} HTTP/1.1`, "Connection: close", ...lines, "", ""];
  return exchange(url, Buffer.from(head.join("\r\n"), "latin1"));
}

const local = "Host: localhost";

/** The statuses of a technician's requests under these names, as UTF-8. */
const statusesAs = (url: string, names: readonly string[]) =>
  Promise.all(
    names.map(async (name) => {
      const user = `Remote-User: ${Buffer.from(name).toString("latin1")}`;
      return statusOf(await get(url, [local, user, "Remote-Groups: techs"]));
    }),
  );

test("a user named by a trusted proxy has the role of their groups, whose names are not split at other separators", async (t) => {
  const service = await startApp(t, { proxies: groupedProxies() });
  // Names are sent as UTF-8.
  const name = Buffer.from("Jö").toString("latin1");
  const statuses = async (groups: string | undefined) => {
    const sent = groups === undefined ? {} : { "remote-groups": groups };
    const headers = { ...page, "remote-user": name, ...sent };
    const read = await service.fetch("/clients", { headers });
    const changed = await service.post("/clients", { name: `For ${groups}` }, headers);
    return [read.status, changed.status];
  };

  assert.deepEqual(await statuses("sales"), [200, 403]);
  for (const groups of ["a|techs", "x;techs; y", "x,techs"])
    assert.deepEqual(await statuses(groups), [200, 200], groups);
  for (const groups of [
    ...["x; y", "", undefined, "a|b,platen-admins", "a;b,platen-admins", "a,platen-admins|b"],
    ...["a;platen-admins|b", "platen-admins x", "Platen-Admins", "*", " ; ,|, "],
  ])
    assert.deepEqual(await statuses(groups), [403, 403], groups);
  const { groups } = proxiesOf({ REMOTE_GROUPS: "viewer=*" });
  assert.equal(roleOfGroups(groups, []), "viewer", "everyone has the role for *");
});

test("without groups, every user of the proxy is an operator, and the administrator's pages tell what to set", async (t) => {
  const service = await startApp(t, { proxies: namingProxies() });
  const grouped = await startApp(t, { proxies: groupedProxies() });
  const headers = { ...page, "remote-user": "jo", "remote-groups": "techs" };
  const textAt = async ({ fetch }: typeof service, path: string) => {
    const answer = await fetch(path, { headers });
    return `${answer.status} ${await answer.text()}`;
  };

  const changed = await service.post("/clients", { name: "A" }, { "remote-user": "jo" });
  const direct = await service.post("/clients", { name: "B" });
  const shown = await service.fetch("/", { headers: page });
  const health = await service.fetch("/health");
  const other = await textAt(grouped, "/tokens");

  assert.deepEqual([changed.status, direct.status, shown.status, health.status], [200, 401, 401, 200]);
  assert.equal(service.app.store.clients.count(), 1);
  const lacking = /^403 [\s\S]*none is set up\. Set REMOTE_GROUPS_HEADER with .*, or ADMIN_PASSWORD_FILE\./;
  for (const path of ["/tokens", "/audit"]) assert.match(await textAt(service, path), lacking);
  assert.match(other, /^403 [\s\S]*Your role \(operator\) does not allow this/);
  assert.doesNotMatch(other, /none is set up|ADMIN_PASSWORD/);
});

test("a request by a proxy updates when the account was last seen, also across a restart", async (t) => {
  let now = Date.UTC(2026, 10, 21, 12);
  const options = { dataDir: await temporaryFolder(t), proxies: groupedProxies(), clock: () => now };
  const first = await startApp(t, options);
  const boss = { "remote-user": "boss", "remote-groups": "platen-admins", ...page };
  await first.post("/accounts", { name: "looks", role: "viewer" }, boss);
  const shown = async ({ fetch }: typeof first) => {
    const text = await (await fetch("/accounts", { headers: boss })).text();
    return /<time datetime="[^"]*"|>never</.exec(text.split("Last seen</th>")[1] ?? "")?.[0];
  };

  const before = await shown(first);
  now += 60_000;
  await first.fetch("/printers", { headers: { "remote-user": "looks" } });
  const after = await shown(first);
  await first.stop();
  now += 60_000;
  const restarted = await shown(await startApp(t, options));

  const seen = '<time datetime="2026-11-21T12:01:00.000Z"';
  assert.deepEqual([before, after, restarted], [">never<", seen, seen]);
});

test("where people sign in at a proxy only, pages show their name, and none leads to a password form or a sign-out", async (t) => {
  const { admin, service } = await startGuarded(t);
  const plain = { ...page, "upgrade-insecure-requests": "1" };

  const home = await (await admin.fetch("/")).text();
  const own = await (await admin.fetch("/account")).text();
  const answers = [
    await service.fetch("/printers", { headers: plain }),
    await service.fetch("/sign-in", { headers: plain }),
    await service.post("/clients", { name: "A" }, plain),
    await service.post("/clients", { name: "A" }, { ...page, "hx-request": "true" }),
  ];

  assert.match(home, /<div class="visitor"><a href="\/account"><bdi>boss<\/bdi><\/a><\/div>/);
  assert.match(home, />Tokens<\/a>/);
  assert.doesNotMatch(home, /Sign out/);
  assert.match(own, /Role: admin[\s\S]*You sign in at your organization’s proxy/);
  for (const answer of answers) {
    const text = await answer.text();
    assert.equal(answer.status, 401);
    assert.ok(text.includes("Sign in at your organization’s proxy"));
    assert.doesNotMatch(text, /\/sign-in|type="password"/);
  }
});

test("a user header from an untrusted sender is refused with 400", async (t) => {
  const trusting = await startApp(t, { proxies: groupedProxies() });
  const other = await startApp(t, { proxies: namingProxies({ TRUSTED_PROXIES: "10.9.9.9" }) });

  const answers = [
    await get(other.url, [local, "Remote-User: admin"]),
    await get(other.url, [local, "remote-user:"]),
    await get(other.url, [local, "Remote-User: admin"], "/health"),
    await get(other.url, [local, "Remote-User: admin", "X-Forwarded-For: 10.9.9.9"]),
    await get(trusting.url, [local, "Remote-User: jo", "Remote-Groups: techs"]),
  ];

  assert.deepEqual(answers.map(statusOf), [400, 400, 400, 400, 200]);
  assert.match(answers[0] ?? "", /Only trusted proxies may send the header remote-user/);
});

test("a user header that is doubled, empty, folded, too long or has control characters is refused", async (t) => {
  const { url } = await startApp(t, { proxies: groupedProxies() });
  const groups = "Remote-Groups: platen-admins";
  const reversed = Buffer.from("a\u202eb").toString("latin1");
  const names = ["", "a".repeat(121), "a\u0085b", "a\tb", reversed, "a\xffb"];
  const attempts = [
    ["Remote-User: jo", "Remote-User: admin", groups],
    ["Remote-User: jo", groups, groups],
    ["Remote-User: jo", `Remote-Groups: ${"a,".repeat(4500)}`],
    ...names.map((name) => [`Remote-User: ${name}`, groups]),
  ];

  for (const lines of attempts)
    assert.equal(statusOf(await get(url, [local, ...lines])), 400, lines.join().slice(0, 60));
  assert.equal(statusOf(await get(url, [local, groups])), 401);
  // Some proxies treat a name with an underscore as the same header; Platen ignores it.
  const underscored = [local, "Remote_User: admin", "REMOTE_GROUPS: platen-admins"];
  assert.equal(statusOf(await get(url, underscored)), 401);
});

test("a name that only looks like an account's is another one, and the log's and the administrator's are refused", async (t) => {
  const { app, url } = await startClosed(t, { proxies: groupedProxies() });
  await app.store.accounts.setDisabled(await app.store.accounts.add("karl", "operator"), true);

  const same = await statusesAs(url, ["karl", "Karl", "KARL", "admin", "Admin"]);
  // With a small capital, a full-width letter, and a Cyrillic letter; then names in other alphabets.
  const looksAlike = await statusesAs(url, ["ᴋarl", "ｋarl", "k\u0430rl"]);
  const others = await statusesAs(url, ["Сара", "Νίκος", "Ирина Смирнова", "Işıl", "Անի"]);
  const kept = ["token Datto", "link printer 1", "anyone", "Platen", "Several", "an unknown  name"];

  assert.deepEqual(new Set(same), new Set([403]));
  assert.deepEqual(new Set([...looksAlike, ...others]), new Set([200]));
  assert.deepEqual(new Set(await statusesAs(url, kept)), new Set([400]));
});
