import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { linkEndDay } from "../../src/domain/access/link.ts";
import { downloadPathIn, startGuarded } from "../support/access/guarded.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { runFile } from "../support/powershell/powershell-process.ts";

const dayMs = 24 * 60 * 60_000;
const noon = Date.UTC(2026, 10, 21, 12);

test("a script fetched by a person or with a token contains a link to its driver's files", async (t) => {
  const { service, admin, viewer, addToken, bearer } = await startGuarded(t);
  await admin.addPrinter();
  const { fetch: ofPrinter } = bearer(await addToken("printer:1"));
  const open = await startApp(t);
  await open.addPrinter();

  const scripts = await Promise.all(
    [viewer.fetch, ofPrinter].map(async (fetch) => (await fetch("/printers/1/scripts/install")).text()),
  );
  const alone = await (await viewer.fetch("/drivers/1/scripts/install")).text();
  const plain = await (await open.fetch("/printers/1/scripts/install")).text();
  const addresses = [...scripts, alone].map(downloadPathIn);
  const answers = await Promise.all(addresses.map((address) => service.fetch(address)));

  const [ofPerson, ofToken, ofDriver] = addresses.map((address) => address.slice(0, -22));
  assert.match(ofPerson ?? "", /^\/drivers\/1\/files\?link=[0-9a-z]{3}\.p1\.$/);
  assert.match(ofToken ?? "", /^\/drivers\/1\/files\?link=[0-9a-z]{3}\.t1p1\.$/);
  assert.match(ofDriver ?? "", /^\/drivers\/1\/files\?link=[0-9a-z]{3}\.\.$/);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(downloadPathIn(plain), "/drivers/1/files");
});

test("a script's bytes stay the same for a day, and a link ends at the end of a day", async (t) => {
  let now = noon;
  const { service, viewer, admin } = await startGuarded(t, { clock: () => now, linkDays: 2 });
  await admin.addPrinter();
  const etag = async () => (await viewer.fetch("/printers/1/scripts/install")).headers.get("etag");
  const address = downloadPathIn(await (await viewer.fetch("/printers/1/scripts/install")).text());
  const ask = async () => service.fetch(address);

  const first = await etag();
  now += dayMs / 2 - 1;
  const evening = await etag();
  now += 1;
  const tomorrow = await etag();
  now = noon + 2.5 * dayMs - 1;
  const last = (await ask()).status;
  now += 1;
  const ended = await ask();

  assert.equal(first, evening);
  assert.notEqual(first, tomorrow);
  assert.deepEqual([last, ended.status], [200, 403]);
  assert.match(await ended.text(), /expired on 2026-11-24\..*download the script again/);
  assert.equal(linkEndDay(noon, 2) * dayMs, Date.UTC(2026, 10, 24));
});

test("LINK_DAYS is a choice for new links, and the default one", async (t) => {
  const { operator, admin, service } = await startGuarded(t, { linkDays: 45, clock: () => noon });
  await admin.addPrinter();
  const page = await (await operator.fetch("/printers/1")).text();
  const choices = /id="link-days"[\s\S]*?<\/select>/.exec(page)?.[0] ?? "";
  const make = (days: string) =>
    operator.post("/printers/1/links", { address: "/printers/1/scripts/install", days });

  const answers = await Promise.all(["45", "2", "0", "-1", "1e2"].map(make));
  const [made = ""] = await Promise.all(answers.map((answer) => answer.text()));
  const link = /\/printers\/1\/scripts\/install\?link=[\w.-]+/.exec(made)?.[0] ?? "";

  assert.deepEqual(
    [...choices.matchAll(/value="(\d+)"( selected)?/g)].map(([, days, chosen]) => days + (chosen ?? "")),
    ["1", "7", "30", "45 selected", "90"],
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 422, 422, 422, 422],
  );
  assert.equal((await service.fetch(link)).status, 200);
});

test("a link made with a client's token ends when the printer moves to another client", async (t) => {
  const { service, admin, addToken, bearer, viewer } = await startGuarded(t);
  for (const name of ["Contoso", "Fabrikam"]) await admin.post("/clients", { name });
  await admin.addPrinter({ client_id: "1" });
  const address = async (fetch: typeof service.fetch) =>
    /\/printers\/1\/publish\?link=[\w.-]+/.exec(await (await fetch("/printers/1/publish")).text())?.[0] ?? "";
  const links = [await address(bearer(await addToken("client:1")).fetch), await address(viewer.fetch)];
  const ask = () => Promise.all(links.map(async (link) => (await service.fetch(link)).status));

  const before = await ask();
  const office = { name: "Office", address: "10.0.0.9", driver_id: "1" };
  await admin.post("/printers/1", { ...office, client_id: "2" });
  const after = await ask();

  assert.deepEqual(
    [before, after],
    [
      [200, 200],
      [403, 200],
    ],
  );
});

test("after ending all links, the user sees a message on the same page", async (t) => {
  const { operator, admin } = await startGuarded(t);
  await admin.post("/clients", { name: "Contoso" });
  await admin.addPrinter({ client_id: "1" });

  const answers = await Promise.all(
    ["/printers/1", "/clients/1", "/drivers/1"].map((path) => operator.post(`${path}/links/end`, {})),
  );
  const places = answers.map(({ headers }) => headers.get("location") ?? "");
  const texts = await Promise.all(places.map(async (place) => (await operator.fetch(place)).text()));

  assert.deepEqual(places, ["/printers/1?done=links", "/clients/1?done=links", "/drivers/1?done=links"]);
  for (const text of texts) assert.match(text, /All links are revoked\./);
});

test("packages contain no link, and their bytes stay the same from day to day", async (t) => {
  let now = noon;
  const { viewer, admin } = await startGuarded(t, { clock: () => now });
  await admin.addPrinter();
  const fetchAll = () =>
    Promise.all(["rmm", "mdm"].map((format) => bytesOf(viewer.fetch(`/printers/1/packages/${format}`))));

  const before = await fetchAll();
  now += 40 * dayMs;
  const after = await fetchAll();

  assert.deepEqual(
    before.map((bytes, i) => after[i]?.equals(bytes)),
    [true, true],
  );
  assert.ok(before.every((bytes) => !bytes.includes("link=")));
});

test("addresses with a link answer HEAD, ranges and validators, and shared caches must not keep the answers", async (t) => {
  const { service, viewer, admin } = await startGuarded(t);
  await admin.addPrinter();
  const address = downloadPathIn(await (await viewer.fetch("/printers/1/scripts/install")).text());

  const whole = await service.fetch(address);
  const bytes = await bytesOf(whole);
  const etag = whole.headers.get("etag") ?? "";
  const head = await service.fetch(address, { method: "HEAD" });
  const part = await service.fetch(address, { headers: { range: "bytes=10-19", "if-range": etag } });
  const same = await service.fetch(address, { headers: { "if-none-match": etag } });

  assert.deepEqual([whole.status, head.status, part.status, same.status], [200, 200, 206, 304]);
  assert.equal(head.headers.get("content-length"), String(bytes.length));
  assert.ok((await bytesOf(part)).equals(bytes.subarray(10, 20)));
  for (const answer of [whole, head, part, same]) {
    assert.equal(answer.headers.get("cache-control"), "private, no-cache");
    assert.equal(answer.headers.get("set-cookie"), null);
  }
});

test("addresses with a link still work after sign-in is switched off", async (t) => {
  const { service, viewer, admin } = await startGuarded(t);
  await admin.addPrinter();
  const address = downloadPathIn(await (await viewer.fetch("/printers/1/scripts/install")).text());
  await service.stop();
  const open = await startApp(t, { dataDir: service.dataDir });

  const answer = await open.fetch(address);

  assert.equal(answer.status, 200);
});

test("a real PowerShell fetches the driver by the link, and reports an ended link or a disabled maker", {
  skip: withoutPowerShell,
}, async (t) => {
  let now = noon;
  const { admin, addToken, bearer } = await startGuarded(t, { clock: () => now });
  await admin.addPrinter();
  const token = bearer(await addToken("printer:1"));
  const script = await (await token.fetch("/printers/1/scripts/install")).text();
  const folder = await temporaryFolder(t);
  const file = join(folder, "part.ps1");
  const part = ["Save-Driver", "New-TemporaryFolder", "Save-Download"]
    .map((name) => new RegExp(`^function ${name} \\{[\\s\\S]*?^\\}`, "m").exec(script)?.[0])
    .join("\n");
  const [, download = ""] = /Download = '([^']+)'/.exec(script) ?? [];
  const [, sha256 = ""] = /FilesSha256 = '([^']+)'/.exec(script) ?? [];
  // The test runs the script's own part, with stubs for the functions that it calls.
  writeFileSync(
    file,
    `Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
function Write-Log { param($Message) Write-Output "log: $Message" | Out-File -Append -FilePath '${join(folder, "log")}' }
function Stop-Run { param($Message) throw $Message }
$script:TemporaryFolders = @()
$MaxWaitForServiceSeconds = 300
${part}
try { "there: $(Test-Path -LiteralPath (Join-Path (Save-Driver ([pscustomobject]@{ Download = '${download}'; FilesSha256 = '${sha256}' })) 'papyrus.inf'))" }
catch { "refused: $($_.Exception.Message)" }
finally { $script:TemporaryFolders | ForEach-Object { Remove-Item -LiteralPath $_ -Recurse } }
`,
  );

  const fetched = await runFile(file);
  now += 40 * dayMs;
  const refused = await runFile(file);
  now = noon;
  await admin.post("/tokens/1/delete", {});
  const revoked = await runFile(file);

  assert.match(fetched.stdout, /there: True/, fetched.stderr);
  assert.match(
    refused.stdout,
    /could not be downloaded from http:\/\/127\.0\.0\.1:\d+\/drivers\/1\/files: This link expired on 2026-12-22\./,
  );
  assert.match(revoked.stdout, /\/drivers\/1\/files: This link expired\. Ask for a new link/);
  assert.deepEqual([fetched.stderr, refused.stderr, revoked.stderr], ["", "", ""]);
  assert.ok(existsSync(join(folder, "log")));
  assert.doesNotMatch(readFileSync(join(folder, "log"), "utf8") + refused.stdout, /link=/);
});
