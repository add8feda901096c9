import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { fetchAll, statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { textIn } from "../support/powershell/pasted.ts";
import { makeTicket } from "../support/printers/tickets.ts";
import { exchange } from "../support/raw.ts";

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
  const tooLarge = "Too large for Intune’s script installer .50 KB.\\.\\s+";

  for (const [path, said] of [
    ["1/read/install", "Small enough for Intune’s script installer"],
    ["2/read/install", `${tooLarge}<a href="\\?for=script-installer">`],
    [
      "2/read/install?for=script-installer",
      "Comments in the code are left out, for Intune’s script installer",
    ],
    ["3/read/install", `${tooLarge}Use the \\.intunewin package`],
  ] as const)
    assert.match(await textOf(service.fetch(`/printers/${path}`)), new RegExp(said));
  assert.doesNotMatch(await textOf(service.fetch("/printers/2/read/detect")), /script installer/);
});

test("scripts alone have the service's address if it is a plain host; pages warn of http and a loopback address", async (t) => {
  const service = await startApp(t);
  const fixed = await startApp(t, { publicUrl: "https://platen.example/sub" });
  for (const { addPrinter } of [service, fixed]) await addPrinter();
  const path = "/printers/1/scripts/install";
  const askAs = (host: string) =>
    exchange(service.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

  const [own, ofFixed] = [await textOf(service.fetch(path)), await textOf(fixed.fetch(path))];
  const others = await textsOf(service, ["/printers/1/scripts/detect", "/printers/1/scripts/uninstall"]);

  assert.ok(own.includes(`Download = '${service.url}/drivers/1/files'`));
  assert.ok((await askAs("platen.lan:8080")).includes("Download = 'http://platen.lan:8080/drivers/1/files'"));
  assert.ok((await askAs("PLATEN.lan:80")).includes("Download = 'http://platen.lan/drivers/1/files'"));
  assert.doesNotMatch(await askAs("a'b;c"), /Download = /);
  assert.ok(ofFixed.includes("Download = 'https://platen.example/sub/drivers/1/files'"));
  for (const other of others) assert.doesNotMatch(other, /https?:\/\/127/);
  for (const [owner, query] of [
    ["/printers/1", "?check=1"],
    ["/drivers/1?tab=deploy", "&amp;check=1"],
  ] as const) {
    const checkedPath = owner + query.replace("amp;", "");
    const [page = "", checked = ""] = await textsOf(service, [owner, checkedPath]);
    const overHttps = await textOf(fixed.fetch(checkedPath));
    assert.equal(page.split("work only on the Platen server").length, 2);
    assert.match(page, /Over http, others on the network can change a script that runs as\s+SYSTEM\./);
    assert.ok(page.includes(`href="${owner}${query}#card-rmm"`), owner);
    assert.doesNotMatch(page, /Get-FileHash/);
    assert.match(textIn(checked, "rmm-one-line"), /\.Hash -ne '[0-9A-F]{64}'/, owner);
    assert.match(checked, /Commands on this page run only a script with the right\s+SHA-256\./);
    assert.doesNotMatch(checked, /#card-rmm/);
    assert.match(overHttps, /https:\/\/platen\.example/);
    assert.doesNotMatch(overHttps, /Get-FileHash|Over http|check=1|work only on the Platen server/);
  }
});
