import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { isTrusted } from "../../src/domain/access/proxies.ts";
import { plainAddress } from "../../src/domain/address.ts";
import { originOf } from "../../src/http/sender.ts";
import { adminPassword, startClosed } from "../support/access/people.ts";
import { proxiesOf } from "../support/access/proxies.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { statusesOf } from "../support/deploy/answers.ts";
import { selectCases } from "../support/depth.ts";
import { connectRaw, exchange, postText, statusOf } from "../support/raw.ts";
import { serve } from "../support/service.ts";
import { leastTime } from "../support/times.ts";

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
  // The widest networks are private ones.
  const widest = proxiesOf({ TRUSTED_PROXIES: "10.0.0.0/8, fc00::/7, ::ffff:172.0.0.0/104" });
  for (const address of ["10.255.0.1", "fdff::1", "172.31.0.1"])
    assert.equal(isTrusted(widest, address), true, address);
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
  for (const network of ["10.0.0.0/7", "fc00::/6", "::ffff:172.0.0.0/103"])
    assert.throws(() => readConfig({ TRUSTED_PROXIES: network }), /, which is too wide/, network);
  assert.throws(() => readConfig(lonely), /needs TRUSTED_PROXIES[\s\S]*needs REMOTE_GROUPS, such as/);
  assert.throws(() => readConfig({ REMOTE_GROUPS: "admin=a" }), /REMOTE_GROUPS_HEADER is not set/);
  assert.throws(() => readConfig({ REMOTE_GROUPS_HEADER: "Groups" }), /needs REMOTE_USER_HEADER/);
});

test("requests by a trusted proxy and direct ones get their own address of the service, and a hostile one is refused", async (t) => {
  const proxies = proxiesOf({ TRUSTED_PROXIES: "127.0.0.2" });
  const service = await startApp(t, { proxies, allowedHosts: ["platen.example"] });
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
  assert.match(hostile, /^HTTP\/1\.1 421 /);
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

const hasIpv6 =
  existsSync("/proc/net/if_inet6") && readFileSync("/proc/net/if_inet6", "utf8").includes(" lo");

/** Statuses over IPv4 and IPv6, by the trusted proxies. */
const statusesByProxies: readonly [string, readonly number[]][] = [
  ["127.0.0.0/8", [200, 400]],
  ["::1", [400, 200]],
  ["fd00::/8", [400, 400]],
  ["::ffff:127.0.0.0/104", [200, 400]],
];

for (const [trusted, expected] of selectCases(statusesByProxies, 1))
  test(`a proxy is trusted by its address, as IPv4, IPv6 or mapped IPv4, and its neighbour is not: ${trusted}`, {
    skip: hasIpv6 ? false : "this machine has no IPv6 (mount)",
  }, async (t) => {
    const settings = { HOST: "::", REMOTE_USER_HEADER: "Remote-User", TRUSTED_PROXIES: trusted };
    const { url } = await serve(t, await temporaryFolder(t), settings);

    const addresses = [url, url.replace("127.0.0.1", "[::1]")];
    const headers = { "remote-user": "jo" };
    const answers = await Promise.all(addresses.map((address) => fetch(`${address}/printers`, { headers })));

    assert.deepEqual(statusesOf(answers), expected);
  });

test("behind https, the service's name is accepted in any spelling, and only its own pages may change anything", async (t) => {
  const settings = readConfig({ PUBLIC_URL: "https://platen.example", ADMIN_PASSWORD: adminPassword });
  const { url } = await startApp(t, { ...settings, dataDir: await temporaryFolder(t) });
  const ask = (host: string) =>
    exchange(url, `GET /sign-in HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const post = async (host: string, origin: string) => {
    const form = postText("/sign-in", "application/x-www-form-urlencoded", "name=x&password=y", { host });
    return statusOf(await exchange(url, form.toString().replace("\r\n", `\r\nOrigin: ${origin}\r\n`)));
  };
  const spelled = ["platen.example", "platen.example:8443", "platen.example.", "PLATEN.EXAMPLE.:443"];
  const ours = [...spelled, "nas:8080"];
  const others = [
    ...["evil.example", "platen.example.evil.example", "platen.example@evil.example", "xplaten.example"],
    ...["platen.example..", "platen.example:443:443", "platen.exampl"],
  ];

  for (const host of [...ours, ...others]) {
    const answer = await ask(host);
    assert.ok((ours.includes(host) ? [200] : [400, 421]).includes(statusOf(answer)), `${host}: ${answer}`);
    assert.match(answer, /^strict-transport-security: max-age=31536000/im);
  }
  for (const host of ["platen.example", "PLATEN.EXAMPLE.:443", "127.0.0.1:8080"])
    assert.equal(await post(host, "https://platen.example"), 422, host);
  for (const origin of ["platen.example.evil.example", "platen.example:8443", "xplaten.example"])
    assert.equal(await post("platen.example", `https://${origin}`), 403, origin);
  assert.equal(await post("platen.example", "null"), 403);
});

test("cookies are for https only where PUBLIC_URL or a trusted proxy reports https, and other senders cannot", async (t) => {
  const cookiesWith = async (options: Parameters<typeof startClosed>[1], scheme?: string) => {
    const app = await startClosed(t, options);
    const headers = scheme === undefined ? {} : { "x-forwarded-proto": scheme };
    const answer = await app.post("/sign-in", { name: "admin", password: adminPassword }, headers);
    assert.equal(answer.status, 303);
    return answer.headers.getSetCookie().map((line) => line.replace(/=.*?(; Secure)?$/, "$1"));
  };
  const plain = ["platen", "platen-device"];
  const secure = ["__Host-platen; Secure", "__Host-platen-device; Secure"];
  const trusting = { proxies: proxiesOf() };
  const others = { proxies: proxiesOf({ TRUSTED_PROXIES: "10.9.9.9" }) };

  assert.deepEqual(await cookiesWith({}, "https"), plain);
  assert.deepEqual(await cookiesWith(others, "https"), plain);
  assert.deepEqual(await cookiesWith(trusting), plain);
  assert.deepEqual(await cookiesWith(trusting, "https"), secure);
  assert.deepEqual(await cookiesWith(trusting, "https, http"), plain);
  assert.deepEqual(await cookiesWith({ ...trusting, publicUrl: "https://platen.example" }, "http"), secure);
});
