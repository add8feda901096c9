import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { isTrusted, roleOfGroups } from "../../src/domain/access/proxies.ts";
import { plainAddress } from "../../src/domain/address.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { groupedProxies, namingProxies, proxiesOf } from "../support/access/proxies.ts";
import { startApp, temporaryFolder } from "../support/app.ts";

const page = { accept: "text/html" };

test("proxies are trusted by address or network, IPv4 or IPv6, in any spelling of an address", () => {
  const proxies = proxiesOf({
    TRUSTED_PROXIES: "10.0.0.5, 172.18.0.0/16 ,fd00:1::/64, ::ffff:192.168.7.0/120, 2001:db8::1",
  });
  const written = [
    "10.0.0.5",
    "::ffff:10.0.0.5",
    "::ffff:a00:5",
    "172.18.255.1",
    "fd00:1::9",
    "fd00:1:0:0:ffff::9%eth0",
    "192.168.7.200",
    "2001:DB8::1",
  ];
  const others = [
    "10.0.0.6",
    "172.19.0.1",
    "fd00:1:0:1::1",
    "192.168.8.1",
    "::1",
    "2001:db8::2",
    "::10.0.0.5",
  ];

  const trustedOf = (addresses: readonly string[]) =>
    addresses.filter((text) => isTrusted(proxies, plainAddress(text) ?? ""));

  assert.deepEqual(trustedOf(written), written);
  assert.deepEqual(trustedOf(others), []);
});

test("networks up to the width of private ones are trusted, and wider ones are refused", () => {
  const widest = proxiesOf({ TRUSTED_PROXIES: "10.0.0.0/8, fc00::/7, ::ffff:172.0.0.0/104" });
  const wider = ["10.0.0.0/7", "fc00::/6", "::ffff:172.0.0.0/103"];

  const inside = ["10.255.0.1", "fdff::1", "172.31.0.1"].filter((address) => isTrusted(widest, address));

  assert.deepEqual(inside, ["10.255.0.1", "fdff::1", "172.31.0.1"]);
  for (const network of wider)
    assert.throws(() => readConfig({ TRUSTED_PROXIES: network }), /, which is too wide/, network);
});

test("all wrong proxy settings are reported together", () => {
  const wrong = {
    TRUSTED_PROXIES:
      "10.0.0.0/33, proxy.lan, 0.0.0.0/0, 128.0.0.0/1, ::/0, fc00::/6, ::ffff:0:0/96, fe80::1%eth0, 1.2.3.4/08",
    REMOTE_USER_HEADER: "Remote_User",
    REMOTE_GROUPS_HEADER: "X-Forwarded-For",
    REMOTE_GROUPS: "admin, boss=x, viewer=",
  };
  const lonely = { REMOTE_USER_HEADER: "Remote-User", REMOTE_GROUPS_HEADER: "Remote-Groups" };

  assert.throws(
    () => readConfig(wrong),
    /TRUSTED_PROXIES has “10\.0\.0\.0\/33”, “proxy\.lan”, “fe80::1%eth0”, “1\.2\.3\.4\/08”; it is addresses.*\nTRUSTED_PROXIES has “0\.0\.0\.0\/0”, “128\.0\.0\.0\/1”, “::\/0”, “fc00::\/6”, “::ffff:0:0\/96”, which is too wide/,
  );
  assert.throws(() => readConfig(wrong), /REMOTE_USER_HEADER is “Remote_User”/);
  assert.throws(() => readConfig(wrong), /REMOTE_GROUPS_HEADER is “X-Forwarded-For”/);
  assert.throws(() => readConfig(wrong), /REMOTE_GROUPS has “admin”, “boss=x”, “viewer=”/);
  assert.throws(() => readConfig(lonely), /needs TRUSTED_PROXIES[\s\S]*needs REMOTE_GROUPS, such as/);
  assert.throws(() => readConfig({ REMOTE_GROUPS: "admin=a" }), /REMOTE_GROUPS_HEADER is not set/);
  assert.throws(() => readConfig({ REMOTE_GROUPS_HEADER: "Groups" }), /needs REMOTE_USER_HEADER/);
});

test("the highest role of several groups counts", () => {
  const { groups } = groupedProxies();
  const open = proxiesOf({ REMOTE_GROUPS: "viewer=*" }).groups;

  assert.equal(roleOfGroups(groups, ["sales", "platen-admins", "techs"]), "admin");
  assert.equal(roleOfGroups(groups, ["x", "techs"]), "operator");
  assert.equal(roleOfGroups(groups, ["Techs"]), undefined);
  assert.equal(roleOfGroups(open, []), "viewer");
});

test("a user named by a trusted proxy has the role of their groups", async (t) => {
  const service = await startApp(t, { proxies: groupedProxies() });
  const ask = async (groups: string | undefined, method = "GET") => {
    const headers = {
      ...page,
      "remote-user": "Jö",
      ...(groups === undefined ? {} : { "remote-groups": groups }),
    };
    // Names are sent as UTF-8.
    headers["remote-user"] = Buffer.from("Jö").toString("latin1");
    const body = method === "POST" ? new URLSearchParams({ name: "A" }) : null;
    return (await service.fetch("/clients", { method, headers, body })).status;
  };

  const read = [
    await ask("sales"),
    await ask("a|techs"),
    await ask("x;techs; y"),
    await ask("x; y"),
    await ask(""),
    await ask(undefined),
  ];
  const changed = [await ask("sales", "POST"), await ask("x,techs", "POST")];

  assert.deepEqual(read, [200, 200, 200, 403, 403, 403]);
  assert.deepEqual(changed, [403, 200]);
});

test("without groups, every user of the proxy is an operator, and direct requests are unauthenticated", async (t) => {
  const service = await startApp(t, { proxies: namingProxies() });
  const named = { "remote-user": "jo" };

  const changed = await service.post("/clients", { name: "A" }, named);
  const direct = await service.post("/clients", { name: "B" });
  const shown = await service.fetch("/", { headers: page });
  const health = await service.fetch("/health");

  assert.deepEqual([changed.status, direct.status, shown.status, health.status], [200, 401, 401, 200]);
  assert.match(await shown.text(), /Sign in at your organization’s proxy/);
  assert.equal(service.app.store.clients.count(), 1);
});

test("where the settings name no administrator, the administrator's pages tell what to set", async (t) => {
  const lacking = await startApp(t, { proxies: namingProxies() });
  const grouped = await startApp(t, { proxies: groupedProxies() });
  const headers = { ...page, "remote-user": "jo", "remote-groups": "techs" };
  const textAt = async ({ fetch }: typeof lacking, path: string) => {
    const answer = await fetch(path, { headers });
    return `${answer.status} ${await answer.text()}`;
  };

  const pageTexts = [await textAt(lacking, "/tokens"), await textAt(lacking, "/audit")];
  const other = await textAt(grouped, "/tokens");

  for (const text of pageTexts)
    assert.match(
      text,
      /^403 [\s\S]*none is set up\. Set REMOTE_GROUPS_HEADER with .*, or ADMIN_PASSWORD_FILE\./,
    );
  assert.match(other, /^403 [\s\S]*Your role \(operator\) does not allow this/);
  assert.doesNotMatch(other, /none is set up|ADMIN_PASSWORD/);
});

test("behind a trusted proxy, the service's address is the one that the client requested", async (t) => {
  const service = await startApp(t, { proxies: proxiesOf() });
  const id = await service.addPrinter();
  const other = await startApp(t, { proxies: proxiesOf({ TRUSTED_PROXIES: "10.9.9.9" }) });
  const otherId = await other.addPrinter();
  const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "platen.example" };
  const script = async ({ fetch }: typeof service, printer: number, sent = {}) =>
    (await fetch(`/printers/${printer}/scripts/install`, { headers: { ...headers, ...sent } })).text();

  const trusted = await script(service, id);
  const hostile = await script(service, id, { "x-forwarded-host": "a'b;c", "x-forwarded-proto": "file" });
  const untrusted = await script(other, otherId);

  assert.match(trusted, /Download = 'https:\/\/platen\.example\/drivers\/1\/files'/);
  assert.doesNotMatch(hostile, /Download = /);
  assert.ok(untrusted.includes(`Download = '${other.url}/drivers/1/files'`));
});

test("an account overrides the groups of the user with its name, and no proxy user is the administrator's account", async (t) => {
  const service = await startApp(t, { proxies: groupedProxies() });
  const { accounts } = service.app.store;
  await accounts.setAdminPassword("none");
  const looks = await accounts.add("looks", "viewer", "none");
  const ask = async (name: string, groups: string, method = "GET") => {
    const headers = { "remote-user": name, "remote-groups": groups };
    return (await service.fetch(method === "GET" ? "/tokens" : "/clients", { method, headers })).status;
  };

  const changed = await ask("looks", "platen-admins", "POST");
  const administered = [
    await ask("admin", "techs"),
    await ask("Admin", ""),
    await ask("boss", "platen-admins"),
  ];
  await accounts.setDisabled(looks, true);
  const disabled = await service.fetch("/printers", {
    headers: { "remote-user": "looks", "remote-groups": "techs" },
  });

  assert.deepEqual([changed, ...administered], [403, 403, 403, 200]);
  assert.equal(disabled.status, 403);
  assert.match(await disabled.text(), /account “looks” is disabled/);
});

test("a request by a proxy updates when the account was last seen, also across a restart", async (t) => {
  let now = Date.UTC(2026, 10, 21, 12);
  const dataDir = await temporaryFolder(t);
  const first = await startApp(t, { dataDir, proxies: groupedProxies(), clock: () => now });
  const boss = { "remote-user": "boss", "remote-groups": "platen-admins", ...page };
  await first.post("/accounts", { name: "looks", role: "viewer" }, boss);
  const shown = async (service: typeof first) =>
    /<time datetime="([^"]*)"|>never</.exec(
      (await (await service.fetch("/accounts", { headers: boss })).text()).split("Last seen</th>")[1] ?? "",
    );

  const before = await shown(first);
  now += 60_000;
  await first.fetch("/printers", { headers: { "remote-user": "looks" } });
  const after = await shown(first);
  await first.stop();
  const second = await startApp(t, { dataDir, proxies: groupedProxies(), clock: () => now + 60_000 });
  const restarted = await shown(second);

  assert.equal(before?.[0], ">never<");
  assert.equal(after?.[1], "2026-11-21T12:01:00.000Z");
  assert.equal(restarted?.[1], "2026-11-21T12:01:00.000Z");
});

test("a proxy user's pages show their name with a link to their account, and no sign-out", async (t) => {
  const { admin } = await startGuarded(t);

  const page = await (await admin.fetch("/")).text();
  const own = await (await admin.fetch("/account")).text();

  assert.match(page, /<div class="visitor"><a href="\/account"><bdi>boss<\/bdi><\/a><\/div>/);
  assert.match(page, />Tokens<\/a>/);
  assert.doesNotMatch(page, /Sign out/);
  assert.match(own, /Role: admin[\s\S]*You sign in at your organization’s proxy/);
});

test("where people sign in at a proxy only, no page leads to a password form", async (t) => {
  const { service } = await startGuarded(t);
  const page = { accept: "text/html", "upgrade-insecure-requests": "1" };

  const answers = [
    await service.fetch("/printers", { headers: page }),
    await service.fetch("/sign-in", { headers: page }),
    await service.post("/clients", { name: "A" }, page),
    await service.post("/clients", { name: "A" }, { accept: "text/html", "hx-request": "true" }),
  ];
  const shown = await Promise.all(answers.map((answer) => answer.text()));

  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 401, 401],
  );
  assert.ok(shown.every((text) => text.includes("Sign in at your organization’s proxy")));
  assert.ok(!shown.some((text) => text.includes("/sign-in") || text.includes('type="password"')));
});
