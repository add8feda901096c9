import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { isTrusted, roleOfGroups } from "../../src/domain/access/proxies.ts";
import { plainAddress } from "../../src/domain/address.ts";
import { originOf } from "../../src/http/sender.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { groupedProxies, namingProxies, proxiesOf } from "../support/access/proxies.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { connectRaw, statusOf } from "../support/raw.ts";
import { leastTime } from "../support/times.ts";

const page = { accept: "text/html" };

/** A request from an address, with headers. */
const requestFrom = (remoteAddress: string, headers: Record<string, string>) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

test("proxies are trusted by address or network, IPv4 or IPv6, in any spelling of an address", () => {
  const proxies = proxiesOf({
    TRUSTED_PROXIES: "10.0.0.5, 172.18.0.0/16 ,fd00:1::/64, ::ffff:192.168.7.0/120, 2001:db8::1",
  });
  const written = [
    ...["10.0.0.5", "::ffff:10.0.0.5", "::ffff:a00:5", "172.18.255.1", "fd00:1::9"],
    ...["fd00:1:0:0:ffff::9%eth0", "192.168.7.200", "2001:DB8::1"],
  ];
  const others = [
    ...["10.0.0.6", "172.19.0.1", "fd00:1:0:1::1", "192.168.8.1", "::1", "2001:db8::2", "::10.0.0.5"],
  ];

  const trusted = [...written, ...others].filter((text) => isTrusted(proxies, plainAddress(text) ?? ""));

  assert.deepEqual(trusted, written);
});

test("networks up to the width of private ones are trusted, and wider ones are refused", () => {
  const widest = proxiesOf({ TRUSTED_PROXIES: "10.0.0.0/8, fc00::/7, ::ffff:172.0.0.0/104" });

  for (const address of ["10.255.0.1", "fdff::1", "172.31.0.1"])
    assert.equal(isTrusted(widest, address), true, address);
  for (const network of ["10.0.0.0/7", "fc00::/6", "::ffff:172.0.0.0/103"])
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

  for (const message of [
    /TRUSTED_PROXIES has “10\.0\.0\.0\/33”, “proxy\.lan”, “fe80::1%eth0”, “1\.2\.3\.4\/08”; it is addresses.*\nTRUSTED_PROXIES has “0\.0\.0\.0\/0”, “128\.0\.0\.0\/1”, “::\/0”, “fc00::\/6”, “::ffff:0:0\/96”, which is too wide/,
    /REMOTE_USER_HEADER is “Remote_User”/,
    /REMOTE_GROUPS_HEADER is “X-Forwarded-For”/,
    /REMOTE_GROUPS has “admin”, “boss=x”, “viewer=”/,
  ])
    assert.throws(() => readConfig(wrong), message);
  assert.throws(() => readConfig(lonely), /needs TRUSTED_PROXIES[\s\S]*needs REMOTE_GROUPS, such as/);
  assert.throws(() => readConfig({ REMOTE_GROUPS: "admin=a" }), /REMOTE_GROUPS_HEADER is not set/);
  assert.throws(() => readConfig({ REMOTE_GROUPS_HEADER: "Groups" }), /needs REMOTE_USER_HEADER/);
});

test("the highest role of several groups counts", () => {
  const { groups } = groupedProxies();
  const given = [["sales", "platen-admins", "techs"], ["x", "techs"], ["Techs"]];

  const found = given.map((names) => roleOfGroups(groups, names));

  assert.deepEqual(found, ["admin", "operator", undefined]);
  assert.equal(roleOfGroups(proxiesOf({ REMOTE_GROUPS: "viewer=*" }).groups, []), "viewer");
});

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
});

test("without groups, every user of the proxy is an operator, and direct requests are unauthenticated", async (t) => {
  const service = await startApp(t, { proxies: namingProxies() });

  const changed = await service.post("/clients", { name: "A" }, { "remote-user": "jo" });
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

  const other = await textAt(grouped, "/tokens");

  for (const path of ["/tokens", "/audit"])
    assert.match(
      await textAt(lacking, path),
      /^403 [\s\S]*none is set up\. Set REMOTE_GROUPS_HEADER with .*, or ADMIN_PASSWORD_FILE\./,
    );
  assert.match(other, /^403 [\s\S]*Your role \(operator\) does not allow this/);
  assert.doesNotMatch(other, /none is set up|ADMIN_PASSWORD/);
});

test("requests by a trusted proxy and direct ones get their own address of the service, and a hostile one gets none", async (t) => {
  const service = await startApp(t, { proxies: proxiesOf({ TRUSTED_PROXIES: "127.0.0.2" }) });
  await service.addPrinter();
  const ask = async (path: string, from?: string, host = "platen.example") => {
    const { socket, closed } = await connectRaw(service.url, from);
    const forwarded = `X-Forwarded-Proto: https\r\nX-Forwarded-Host: ${host}\r\n`;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${forwarded}Connection: close\r\n\r\n`);
    return closed;
  };

  const proxied = await ask("/printers/1", "127.0.0.2");
  const direct = await ask("/printers/1");
  const hostile = await ask("/printers/1/scripts/install", "127.0.0.2", "a'b;c");

  assert.match(proxied, /https:\/\/platen\.example\/printers\/1\/scripts/);
  assert.doesNotMatch(direct, /https:\/\/localhost|platen\.example/);
  assert.match(direct, /http:\/\/localhost\/printers\/1\/scripts/);
  assert.match(hostile, /^HTTP\/1\.1 200 /);
  assert.doesNotMatch(hostile, /Download = /);
});

test("an account overrides the groups of the user with its name, and no proxy user is the administrator's account", async (t) => {
  const service = await startApp(t, { proxies: groupedProxies() });
  const { accounts } = service.app.store;
  await accounts.setAdminPassword("none");
  const looks = await accounts.add("looks", "viewer", "none");
  const ask = (path: string, name: string, groups: string, method = "GET") =>
    service.fetch(path, { method, headers: { "remote-user": name, "remote-groups": groups } });

  const answers = [
    await ask("/clients", "looks", "platen-admins", "POST"),
    await ask("/tokens", "admin", "techs"),
    await ask("/tokens", "Admin", ""),
    await ask("/tokens", "boss", "platen-admins"),
  ];
  await accounts.setDisabled(looks, true);
  const disabled = await ask("/printers", "looks", "techs");

  assert.deepEqual(
    [...answers, disabled].map(({ status }) => status),
    [403, 403, 403, 200, 403],
  );
  assert.match(await disabled.text(), /account “looks” is disabled/);
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

test("a chain of addresses is read from its end, up to the first address that is no trusted proxy", () => {
  const proxies = proxiesOf({ TRUSTED_PROXIES: "10.0.0.0/8,fd00::/8" });

  for (const [remote, chain, address] of [
    ["192.0.2.7", "8.8.8.8", "192.0.2.7"],
    ["::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1"],
    ["10.0.0.1", "8.8.8.8, 192.0.2.1", "192.0.2.1"],
    ["10.0.0.1", "8.8.8.8, 192.0.2.1, 10.0.0.2,fd00::1", "192.0.2.1"],
    ["10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["10.0.0.1", "192.0.2.1:4711", "192.0.2.1"],
    ["10.0.0.1", "[2001:DB8::7]:4711", "2001:db8::7"],
    ["10.0.0.1", "8.8.8.8, unknown", "10.0.0.1"],
    ["10.0.0.1", "8.8.8.8, <script>, 10.0.0.2", "10.0.0.2"],
    ["10.0.0.1", ",,,", "10.0.0.1"],
    ["10.0.0.1", `fe80::1%${"a".repeat(9000)}`, "10.0.0.1"],
    ["10.0.0.1", `${"1.1.1.1, ".repeat(5000)}192.0.2.1`, "192.0.2.1"],
    ["10.0.0.1", undefined, "10.0.0.1"],
  ] as const) {
    const headers: Record<string, string> = chain === undefined ? {} : { "x-forwarded-for": chain };
    assert.equal(originOf(requestFrom(remote, headers), proxies).address, address, chain);
  }
});

test("of several forwarded hosts and schemes, those of the nearest proxy count, and a long chain costs little", async () => {
  const request = requestFrom("10.0.0.1", {
    "x-forwarded-host": "made-up.example, platen.example",
    "x-forwarded-proto": "http, https",
    "x-forwarded-for": "10.1.1.1,".repeat(100_000),
  });
  const ask = () => originOf(request, proxiesOf({ TRUSTED_PROXIES: "10.0.0.0/8" }));

  const { host, scheme, address } = ask();

  assert.deepEqual([host, scheme, address], ["platen.example", "https", "10.0.0.1"]);
  assert.ok((await leastTime(ask)) < 50);
});

test("quotas apply to each client behind a proxy, and the proxy may use all connections", async (t) => {
  const limits = { connections: 4, pages: 2 };
  const service = await startApp(t, { proxies: proxiesOf(), limits });
  const alone = await startApp(t, { limits });

  const behind = await Promise.all(Array.from({ length: 4 }, () => connectRaw(service.url)));
  const direct = await Promise.all(Array.from({ length: 4 }, () => connectRaw(alone.url)));
  const refused = await Promise.all(direct.slice(2).map(({ closed }) => closed));
  for (const { socket } of behind) socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const served = await Promise.all(behind.map(({ until }) => until(/200 OK/)));
  for (const { socket } of [...behind, ...direct]) socket.destroy();

  assert.deepEqual(refused.map(statusOf), [503, 503]);
  assert.deepEqual(served.map(statusOf), [200, 200, 200, 200]);
});
