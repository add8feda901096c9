import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { Secret } from "../../src/domain/secrets.ts";
import { adminPassword } from "../support/access/people.ts";
import { proxiesOf } from "../support/access/proxies.ts";
import { startApp } from "../support/app.ts";
import { selectCases } from "../support/depth.ts";
import { exchange, postText, statusOf } from "../support/raw.ts";

const named = { publicUrl: "https://platen.example.com", allowedHosts: ["other.example.com"] };
const closed = { ...named, adminPassword: new Secret(adminPassword) };

/** Names that no outsider can own. */
const ours = [
  ...["127.0.0.1:8080", "10.1.2.3", "[::1]:8080", "[fe80::1]", "localhost", "LOCALHOST:80", "printsrv:8080"],
  ...["platen.local", "platen.lan:8080", "a.b.internal", "platen.home.arpa", "platen.lan."],
];
const settings = ["platen.example.com", "PLATEN.example.com:443", "Other.Example.com:8443"];
const foreign = [
  ...["evil.example.com", "rebind.attacker.net:8080", "local.evil.com", "1.2.3.4.nip.io", "xlocal.com"],
  ...["sub.platen.example.com", "a b", "@", "[::1].evil.com", "[evil.com]", "nas@evil.com", "nas/x", ""],
];

for (const [what, config, accepted, refused] of [
  ["without settings", {}, ours, [...settings, ...foreign]],
  ["with PUBLIC_URL and ALLOWED_HOSTS", named, [...ours, ...settings], foreign],
  ["for this machine only", { host: "127.0.0.1" }, ours, foreign],
  ["where people sign in", closed, [...ours, ...settings], foreign],
] as const)
  test(`a name that another site may own is answered 421 by pages and changes, but not by /health, ${what}`, async (t) => {
    const { url, app } = await startApp(t, config);
    const statuses = async (host: string) => {
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const change = postText("/clients", "application/x-www-form-urlencoded", "name=", { host });
      const answers = [get("/health"), get("/drivers/1/archive"), get("/nothing"), change];
      return (await Promise.all(answers.map(async (ask) => statusOf(await exchange(url, ask))))).join(" ");
    };
    const statusesOf = async (hosts: readonly string[]) => [
      ...new Set(await Promise.all(hosts.map(statuses))),
    ];

    const [yes, no] = [await statusesOf(accepted), await statusesOf(refused)];

    assert.deepEqual(yes, [config === closed ? "200 401 401 401" : "200 404 404 422"]);
    assert.deepEqual(no, ["200 421 421 421"]);
    assert.equal(app.store.clients.count(), 0);
  });

test("a refusal of a name says what to do", async (t) => {
  const { fetch, url } = await startApp(t);

  const text = await exchange(url, "GET / HTTP/1.0\r\n\r\n");
  const page = await exchange(url, postText("/clients", "text/plain", "", { host: "rebind.attacker.net" }));

  assert.match(
    text,
    /^HTTP\/1\.1 421[\s\S]*names no host\. Add the name to ALLOWED_HOSTS, or set PUBLIC_URL\./,
  );
  assert.match(page, /does not know the host name \S+rebind\.attacker\.net\S+ Add the name to ALLOWED_HOSTS/);
  assert.equal((await fetch("/health")).status, 200);
});

test("ALLOWED_HOSTS is a list of names, and an invalid one stops the start", () => {
  const config = readConfig({ ALLOWED_HOSTS: " Platen.Example.com, second.example.org ," });

  assert.deepEqual(config.allowedHosts, ["platen.example.com", "second.example.org"]);
  assert.throws(() => readConfig({ ALLOWED_HOSTS: "https://a.example" }), /ALLOWED_HOSTS has “https:/);
});

test("a host forwarded by a trusted proxy is checked like Host", async (t) => {
  const names = [
    ...["nas", "nas:8080", "nas:99999", "10.0.0.1", "10.0.0.999", "[::1]:8080", "[::1"],
    ...["platen.example.com", "evil.example.com", "evil.example.com:80:80", "evil.example.com\\.lan"],
    ...["platen.example.com@evil.example.com", "platen.example.com/evil"],
    ...["a'b;c", "nas?x", "nas#x", "n as"],
  ];
  const reading = ["GET /printers/1", "GET /printers/1/scripts/install"];
  const requests = [...reading, "DELETE /printers/9", "POST /printers/9/links"];

  for (const publicUrl of [undefined, "https://platen.example.com"]) {
    const service = await startApp(t, { publicUrl, proxies: proxiesOf() });
    await service.addPrinter();
    const ask = async (request: string, lines: string) => {
      const head = `${request} HTTP/1.1\r\nConnection: close\r\n${lines}\r\nContent-Length: 0\r\n\r\n`;
      const text = await exchange(service.url, head);
      return `${text.slice(9, 12)} ${/Download = '[^']*'/.exec(text)?.[0]}`;
    };
    for (const [i, name] of names.entries())
      for (const request of selectCases([...requests.slice(i % 4), ...requests.slice(0, i % 4)], 1)) {
        const direct = await ask(request, `Host: ${name}`);
        const forwarded = await ask(request, `Host: nas\r\nX-Forwarded-Host: ${name}`);
        assert.equal(forwarded, direct, `${request} as ${name}`);
        assert.doesNotMatch(direct, /^500/);
      }
  }
});
