import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { startClosed } from "../support/access/people.ts";
import { proxiesOf } from "../support/access/proxies.ts";
import { startApp } from "../support/app.ts";
import { selectCases } from "../support/depth.ts";
import { exchange, postText, statusOf } from "../support/raw.ts";

/** The status of a change under a name. */
async function statusFor(url: string, host: string): Promise<number> {
  const body = `name=${encodeURIComponent(host)}`;
  const request = postText("/clients", "application/x-www-form-urlencoded", body, { host });
  return statusOf(await exchange(url, request));
}

/** Asserts that changes under each name have a status. */
async function assertStatuses(url: string, hosts: readonly string[], status: number): Promise<void> {
  const found = await Promise.all(hosts.map((host) => statusFor(url, host)));
  const others = hosts.filter((_, i) => found[i] !== status);
  assert.deepEqual(others, [], `names that are not answered ${status}`);
}

test("any change under a public name is refused with 421 and accepted under a private one, and pages can be read", async (t) => {
  const service = await startApp(t, { host: "0.0.0.0" });
  const ours = [
    ...["127.0.0.1:8080", "10.1.2.3", "[::1]:8080", "[fe80::1]", "localhost", "LOCALHOST:80", "nas"],
    ...["platen.local", "platen.lan:8080", "a.b.internal", "platen.home.arpa", "platen.lan."],
  ];
  const foreign = [
    ...["evil.example.com", "rebind.attacker.net:8080", "local.evil.com", "1.2.3.4.nip.io", "xlocal.com"],
    ...["a b", "@", "", "[::1].evil.com", "[evil.com]"],
  ];

  await assertStatuses(service.url, ours, 200);
  await assertStatuses(service.url, foreign, 421);
  assert.equal(service.app.store.clients.count(), ours.length);
  const rest = "HTTP/1.1\r\nHost: evil.example.com\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  for (const request of ["DELETE /printers/1", "POST /printers/1/delete", "POST /drivers/upload"])
    assert.equal(statusOf(await exchange(service.url, `${request} ${rest}`)), 421, request);
  for (const request of ["GET /printers", "HEAD /health"])
    assert.equal(statusOf(await exchange(service.url, `${request} ${rest}`)), 200, request);
});

test("a service for this machine only, without sign-in, also refuses changes under private names", async (t) => {
  const settings = { host: "127.0.0.1", allowedHosts: ["nas"] };
  const service = await startApp(t, settings);
  const closed = await startClosed(t, settings);
  const strange = ["evil.local", "evilbox", "evil.lan", "evil.home.arpa", "localhost.evil.lan", "xlocalhost"];
  const ours = ["localhost:8080", "127.0.0.1", "[::1]:8080", "platen.localhost", "nas"];

  await assertStatuses(service.url, strange, 421);
  await assertStatuses(service.url, ours, 200);
  assert.equal(await statusFor(closed.url, "platen.local"), 401);
});

const named = { publicUrl: "https://platen.example.com", allowedHosts: ["other.example.com"] };

test("PUBLIC_URL and ALLOWED_HOSTS name further hosts, and the refusals of changes and pages mention them", async (t) => {
  const { url } = await startApp(t, named);
  const ask = (path: string, host: string) =>
    exchange(url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const foreign = "rebind.attacker.net:8080";
  const ours = ["platen.example.com", "PLATEN.example.com:443", "other.example.com", "10.0.0.5:8080", "nas"];
  const refusal =
    /^HTTP\/1\.1 421[\s\S]*does not know the host name \S*rebind\.attacker\.net[\s\S]*ALLOWED_HOSTS[\s\S]*PUBLIC_URL/;

  assert.match(await exchange(url, postText("/clients", "text/plain", "", { host: foreign })), refusal);
  await assertStatuses(url, ["platen.example.com", "Other.Example.com:8443"], 200);
  await assertStatuses(url, ["sub.platen.example.com"], 421);
  assert.match(await ask("/", foreign), refusal, "a foreign name that points to this machine");
  for (const path of ["/printers", "/nothing", "/static/app.js", "/drivers/1/archive"])
    assert.equal(statusOf(await ask(path, foreign)), 421, path);
  assert.equal(statusOf(await ask("http://rebind.attacker.net/printers", "platen.example.com")), 421);
  for (const host of ours) assert.equal(statusOf(await ask("/printers", host)), 200, host);
  for (const path of ["/health", "//health"]) assert.equal(statusOf(await ask(path, foreign)), 200, path);
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
