import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { startApp } from "../support/app.ts";
import { fetchAll, statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { addTwoDrivers } from "../support/deploy/two-drivers.ts";
import { unpackers } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { makeTicket } from "../support/printers/tickets.ts";
import { exchange } from "../support/raw.ts";

const appWithClient = (t: TestContext) => startFilled(t, addTwoDrivers);

/** A script's settings without the download addresses, which only a script downloaded alone has. */
function settingsAlone(script: Buffer): string {
  const [settings = ""] = /^\$Settings = @\{[\s\S]*?^\}/m.exec(script.toString()) ?? [];
  return settings.replace(/^\t+(?:Download|FilesSha256|Folder) = .*\r\n/gm, "");
}

const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex").toUpperCase();

test("a client's scripts match those of its package, and install names each driver's download and digest", async (t) => {
  const { fetch, url } = await appWithClient(t);
  const tree = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));

  for (const kind of ["install", "uninstall", "detect"]) {
    const answer = await fetch(`/clients/1/scripts/${kind}`);
    const name = `${kind}-kunde-muller.ps1`;
    const disposition = `attachment; filename="${name}"; filename*=UTF-8''${name}`;
    assert.equal(answer.headers.get("content-disposition"), disposition);
    const alone = await bytesOf(answer);
    assert.equal(settingsAlone(alone), settingsAlone(tree[`${kind}.ps1`] ?? Buffer.alloc(0)), kind);
    assert.match(settingsAlone(alone), /Name = 'C'/);
    if (kind !== "install") assert.deepEqual(alone, tree[`${kind}.ps1`]);
    if (kind !== "install") assert.doesNotMatch(alone.toString(), /https?:\/\/127/);
  }
  const install = await textOf(fetch("/clients/1/scripts/install"));
  for (const driver of [1, 2]) {
    const files = await bytesOf(fetch(`/drivers/${driver}/files`));
    assert.ok(install.includes(`Download = '${url}/drivers/${driver}/files'`));
    assert.ok(install.includes(`FilesSha256 = '${sha256Of(files)}'`));
    assert.ok(files.equals(await bytesOf(fetch(`/drivers/${driver}/files`))), "the same bytes again");
  }
});

test("a client's scripts contain printers that will fail only with `all=1`", async (t) => {
  const service = await appWithClient(t);

  const paths = ["/clients/1/scripts/detect", "/clients/1/scripts/detect?all=1"];
  const [careful = "", all = ""] = await textsOf(service, paths);

  assert.doesNotMatch(careful, /Unsigned|Bare/);
  assert.match(all, /Name = 'Unsigned'/);
  assert.doesNotMatch(all, /Bare/);
});

test("a page shows a script's text escaped, with direction marks made visible", async (t) => {
  const service = await startApp(t);
  await service.post("/clients", { name: "<b>Müller</b>" });
  const hostile = "A </pre><script>alert(1)</script>";
  await service.addPrinter({ name: hostile, client_id: "1", comment: "& co" });
  await service.addPrinter({ name: "Turned", comment: "a\u200fb", driver_id: "1" });

  const client = await service.fetch("/clients/1/read/detect");
  const paths = ["/printers/1/read/install", "/printers/2/read/install"];
  const [install = "", turned = ""] = await textsOf(service, paths);
  const unknown = ["/printers/9/read/install", "/printers/1/read/x", "/clients/9/read/install"];

  assert.match(install, /<pre id="script-text">&lt;#\n\.SYNOPSIS/);
  assert.match(install, /Name = &#39;A &lt;\/pre&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;&#39;/);
  assert.doesNotMatch(install, /<script>alert|\ufeff/);
  assert.ok(install.includes('href="/printers/1/scripts/install"'));
  assert.match(install, /data-copy="script-text"/);
  assert.equal(client.headers.get("content-disposition"), null);
  assert.match(await client.text(), /href="\/clients\/1\/scripts\/detect"/);
  assert.match(turned, /Comment = \(-join \(&#39;a&#39;, \[char\]0x200F, &#39;b&#39;\)\)/);
  assert.doesNotMatch(turned, /\u200f<|[^>]\u200f/, "the page contains no direction mark");
  assert.deepEqual(statusesOf(await fetchAll(service, unknown)), [404, 404, 404]);
});

test("the page of an install script says whether Intune's script installer accepts it", async (t) => {
  const service = await startApp(t);
  const ticketOf = (length: number) => {
    const features = Array.from({ length }, (_, i) => [`ns0000:Feature${i}`, `ns0000:Option${i}`]);
    return makeTicket(Object.fromEntries(features));
  };
  await service.addPrinter({ name: "Plain" });
  await service.addPrinter({ name: "Ticket", driver_id: "1", print_ticket: ticketOf(90) });
  await service.addPrinter({ name: "Long", driver_id: "1", print_ticket: ticketOf(600) });
  const said = [
    ["1/read/install", /Small enough for Intune’s script installer/],
    [
      "2/read/install",
      /Too large for Intune’s script installer .50 KB.\.\s+<a href="\?for=script-installer">/,
    ],
    [
      "2/read/install?for=script-installer",
      /Comments in the code are left out, for Intune’s script installer/,
    ],
    ["3/read/install", /Too large for Intune’s script installer .50 KB.\.\s+Use the \.intunewin package/],
  ] as const;

  for (const [path, text] of said) assert.match(await textOf(service.fetch(`/printers/${path}`)), text);
  assert.doesNotMatch(await textOf(service.fetch("/printers/2/read/detect")), /script installer/);
});

test("a script downloaded alone contains the address of its service only if that is a plain host", async (t) => {
  const service = await startApp(t);
  const fixed = await startApp(t, { publicUrl: "https://platen.example/sub" });
  for (const { addPrinter } of [service, fixed]) await addPrinter();
  const path = "/printers/1/scripts/install";
  const askAs = (host: string) =>
    exchange(service.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

  const own = await textOf(service.fetch(path));
  const others = await textsOf(service, ["/printers/1/scripts/detect", "/printers/1/scripts/uninstall"]);

  assert.ok(own.includes(`Download = '${service.url}/drivers/1/files'`));
  assert.ok((await askAs("platen.lan:8080")).includes("Download = 'http://platen.lan:8080/drivers/1/files'"));
  assert.doesNotMatch(await askAs("a'b;c"), /Download = /);
  const ofFixed = await textOf(fixed.fetch(path));
  assert.ok(ofFixed.includes("Download = 'https://platen.example/sub/drivers/1/files'"));
  for (const other of others) assert.doesNotMatch(other, /https?:\/\/127/);
});

test("the revision changes only with values that the scripts use", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  const id = await addPrinter();
  const revision = async () =>
    /Revision = '(\w{12})'/.exec(await textOf(fetch(`/printers/${id}/scripts/detect`)))?.[1];
  const fields = { name: "Office", address: "10.0.0.9", driver_id: "1" };

  const first = await revision();
  await post("/clients", { name: "A" });
  await post(`/printers/${id}`, { ...fields, client_id: "1" });
  const sameUses = await revision();
  await post(`/printers/${id}`, { ...fields, location: "Hall" });
  const other = await revision();
  await post("/drivers/1", { trust_publisher: "on" });

  assert.match(first ?? "", /^[0-9a-f]{12}$/);
  assert.equal(sameUses, first);
  assert.equal(new Set([first, other, await revision()]).size, 3);
});

test("a page opened at a loopback address warns that other machines cannot use it", async (t) => {
  const services = [await startApp(t), await startApp(t, { publicUrl: "https://platen.example" })];

  const notes: number[] = [];
  for (const { addPrinter, fetch } of services) {
    const page = await textOf(fetch(`/printers/${await addPrinter()}`));
    notes.push(page.split("work only on the Platen server").length - 1);
  }

  assert.deepEqual(notes, [1, 0]);
});
