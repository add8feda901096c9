import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../../src/config.ts";
import { startClosed } from "../../support/access/people.ts";
import { proxiesOf } from "../../support/access/proxies.ts";
import { startApp } from "../../support/app.ts";
import { exchange, postText, statusOf } from "../../support/raw.ts";

async function statusFor(url: string, host: string): Promise<number> {
  const form = "application/x-www-form-urlencoded";
  return statusOf(
    await exchange(url, postText("/clients", form, `name=${encodeURIComponent(host)}`, { host })),
  );
}

test("a change under a public name is refused with 421, and under a private name accepted", async (t) => {
  const service = await startApp(t, { host: "0.0.0.0" });
  const ours = [
    "127.0.0.1:8080",
    "10.1.2.3",
    "[::1]:8080",
    "[fe80::1]",
    "localhost",
    "LOCALHOST:80",
    "nas",
    "platen.local",
    "platen.lan:8080",
    "a.b.internal",
    "platen.home.arpa",
    "platen.lan.",
  ];
  const foreign = [
    "evil.example.com",
    "rebind.attacker.net:8080",
    "local.evil.com",
    "1.2.3.4.nip.io",
    "xlocal.com",
    "a b",
    "@",
    "",
    "[::1].evil.com",
    "[evil.com]",
  ];

  const taken = await Promise.all(ours.map((host) => statusFor(service.url, host)));
  const refused = await Promise.all(foreign.map((host) => statusFor(service.url, host)));

  assert.deepEqual(
    taken,
    ours.map(() => 200),
  );
  assert.deepEqual(
    refused,
    foreign.map(() => 421),
  );
  assert.equal(service.app.store.clients.count(), ours.length);
});

test("a service for this machine only, without sign-in, also refuses changes under private names", async (t) => {
  const settings = { host: "127.0.0.1", allowedHosts: ["nas"] };
  const service = await startApp(t, settings);
  const closed = await startClosed(t, settings);
  const strange = ["evil.local", "evilbox", "evil.lan", "evil.home.arpa", "localhost.evil.lan", "xlocalhost"];
  const own = ["localhost:8080", "127.0.0.1", "[::1]:8080", "platen.localhost", "nas"];

  const refused = await Promise.all(strange.map((host) => statusFor(service.url, host)));
  const taken = await Promise.all(own.map((host) => statusFor(service.url, host)));
  const signedOut = await statusFor(closed.url, "platen.local");

  assert.deepEqual(
    refused,
    strange.map(() => 421),
  );
  assert.deepEqual(
    taken,
    own.map(() => 200),
  );
  assert.equal(signedOut, 401);
});

test("PUBLIC_URL and ALLOWED_HOSTS name further hosts, and the refusal mentions them", async (t) => {
  const service = await startApp(t, {
    publicUrl: "https://platen.example.com",
    allowedHosts: ["other.example.com"],
  });

  const answer = await exchange(
    service.url,
    postText("/clients", "text/plain", "", { host: "third.example.com" }),
  );
  const statuses = [
    await statusFor(service.url, "platen.example.com"),
    await statusFor(service.url, "Other.Example.com:8443"),
    await statusFor(service.url, "sub.platen.example.com"),
  ];

  assert.match(answer, /421[\s\S]*third\.example\.com[\s\S]*ALLOWED_HOSTS[\s\S]*PUBLIC_URL/);
  assert.deepEqual(statuses, [200, 200, 421]);
});

test("every changing method checks the host, and pages can be read under any name", async (t) => {
  const service = await startApp(t);
  const ask = (method: string, path: string) =>
    exchange(
      service.url,
      `${method} ${path} HTTP/1.1\r\nHost: evil.example.com\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );

  const answers = [
    await ask("DELETE", "/printers/1"),
    await ask("POST", "/printers/1/delete"),
    await ask("POST", "/drivers/upload"),
    await ask("GET", "/printers"),
    await ask("HEAD", "/health"),
  ];

  assert.deepEqual(answers.map(statusOf), [421, 421, 421, 200, 200]);
});

test("with PUBLIC_URL, a foreign name that points to this machine cannot read pages", async (t) => {
  const service = await startApp(t, {
    publicUrl: "https://platen.example.com",
    allowedHosts: ["other.example.com"],
  });
  const ask = (path: string, host: string) =>
    exchange(service.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

  const paths = ["/", "/printers", "/nothing", "/static/app.js", "/drivers/1/archive", "//health"];
  const foreign = await Promise.all(paths.map((path) => ask(path, "rebind.attacker.net:8080")));
  const whole = await ask("http://rebind.attacker.net/printers", "platen.example.com");
  const ours = ["platen.example.com", "PLATEN.example.com:443", "other.example.com", "10.0.0.5:8080", "nas"];
  const known = await Promise.all(ours.map((host) => ask("/printers", host)));
  const health = await ask("/health", "rebind.attacker.net");

  assert.deepEqual(
    foreign.map(statusOf),
    paths.map((path) => (path === "//health" ? 200 : 421)),
  );
  assert.match(
    foreign[0] ?? "",
    /does not know the host name \S*rebind\.attacker\.net[\s\S]*ALLOWED_HOSTS[\s\S]*PUBLIC_URL/,
  );
  assert.equal(statusOf(whole), 421);
  assert.deepEqual(
    known.map(statusOf),
    ours.map(() => 200),
  );
  assert.equal(statusOf(health), 200);
});

test("ALLOWED_HOSTS is a list of names, and an invalid one stops the start", () => {
  const config = readConfig({ ALLOWED_HOSTS: " Platen.Example.com, second.example.org ," });

  assert.deepEqual(config.allowedHosts, ["platen.example.com", "second.example.org"]);
  assert.throws(
    () => readConfig({ ALLOWED_HOSTS: "https://platen.example.com" }),
    /ALLOWED_HOSTS has “https:/,
  );
});

test("a host forwarded by a trusted proxy is checked like Host", async (t) => {
  const names = [
    "nas",
    "nas:8080",
    "nas:99999",
    "10.0.0.1",
    "10.0.0.999",
    "[::1]:8080",
    "[::1",
    "platen.example.com",
    "evil.example.com",
    "evil.example.com:80:80",
    "platen.example.com@evil.example.com",
    "platen.example.com/evil",
    "evil.example.com\\.lan",
    "a'b;c",
    "nas?x",
    "nas#x",
    "n as",
  ];
  const checkedNames: string[][] = [];

  for (const publicUrl of [undefined, "https://platen.example.com"]) {
    const service = await startApp(t, { publicUrl, proxies: proxiesOf() });
    await service.addPrinter();
    const ask = async (request: string, lines: string) => {
      const text = await exchange(
        service.url,
        `${request} HTTP/1.1\r\nConnection: close\r\n${lines}\r\n\r\n`,
      );
      return `${text.slice(9, 12)} ${/Download = '[^']*'/.exec(text)?.[0]}`;
    };
    for (const name of names)
      for (const request of [
        "GET /printers/1",
        "GET /printers/1/scripts/install",
        "DELETE /printers/9",
        "POST /printers/9/links",
      ]) {
        const direct = await ask(request, `Host: ${name}\r\nContent-Length: 0`);
        const forwarded = await ask(request, `Host: nas\r\nX-Forwarded-Host: ${name}\r\nContent-Length: 0`);
        if (direct !== forwarded || direct.startsWith("500"))
          checkedNames.push([name, request, direct, forwarded]);
      }
  }

  assert.deepEqual(checkedNames, []);
});
