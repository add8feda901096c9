import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { startApp, type TestApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { unpackers } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { type RunResult, withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { makeTicket } from "../support/printers/tickets.ts";

/** Adds a client with two queues on one driver, one on another, and two printers that are left out. */
async function addClient({ post, addDriver, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Kunde Müller" });
  const one = await addDriver(driverZip({ models: ["One A", "One B"] }));
  const two = await addDriver(driverZip({ models: ["Two"], version: "2.0.0.0" }));
  const unsigned = await addDriver(driverZip({ models: ["Three"], version: "3.0.0.0", catalog: null }));
  await addPrinter({ name: "A", client_id: "1", driver_id: String(one), driver_desc: "One A" });
  await addPrinter({
    name: "Büro “B”",
    client_id: "1",
    driver_id: String(one),
    driver_desc: "One B",
    address: "10.0.0.10",
  });
  await addPrinter({ name: "C", client_id: "1", driver_id: String(two), address: "10.0.0.11" });
  await addPrinter({ name: "Unsigned", client_id: "1", driver_id: String(unsigned), address: "10.0.0.12" });
  await post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.13" });
}

const appWithClient = (t: TestContext) => startFilled(t, addClient);

/** A script's settings without the download addresses, which only a script downloaded alone has. */
function settingsAlone(script: Buffer): string {
  const [settings = ""] = /^\$Settings = @\{[\s\S]*?^\}/m.exec(script.toString()) ?? [];
  return settings.replace(/^\t+(?:Download|FilesSha256|Folder) = .*\r\n/gm, "");
}

test("a client's scripts match those of its package, and install names each driver's download and digest", async (t) => {
  const { fetch, url } = await appWithClient(t);
  const tree = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));

  for (const kind of ["install", "uninstall", "detect"]) {
    const answer = await fetch(`/clients/1/scripts/${kind}`);
    const name = `${kind}-kunde-muller.ps1`;
    assert.equal(
      answer.headers.get("content-disposition"),
      `attachment; filename="${name}"; filename*=UTF-8''${name}`,
    );
    const alone = await bytesOf(answer);
    assert.equal(settingsAlone(alone), settingsAlone(tree[`${kind}.ps1`] ?? Buffer.alloc(0)), kind);
    assert.match(settingsAlone(alone), /Name = 'C'/);
    if (kind !== "install") assert.deepEqual(alone, tree[`${kind}.ps1`]);
    if (kind !== "install") assert.doesNotMatch(alone.toString(), /https?:\/\/127/);
  }
  const install = await (await fetch("/clients/1/scripts/install")).text();
  for (const driver of [1, 2]) {
    const files = await bytesOf(fetch(`/drivers/${driver}/files`));
    const sha256 = createHash("sha256").update(files).digest("hex").toUpperCase();
    assert.ok(install.includes(`Download = '${url}/drivers/${driver}/files'`));
    assert.ok(install.includes(`FilesSha256 = '${sha256}'`));
  }
});

test("a client's scripts contain printers that will fail only with `all=1`", async (t) => {
  const { fetch } = await appWithClient(t);

  const careful = await (await fetch("/clients/1/scripts/detect")).text();
  const all = await (await fetch("/clients/1/scripts/detect?all=1")).text();

  assert.doesNotMatch(careful, /Unsigned|Bare/);
  assert.match(all, /Name = 'Unsigned'/);
  assert.doesNotMatch(all, /Bare/);
});

test("a page shows a script's text escaped, with direction marks made visible", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  await post("/clients", { name: "<b>Müller</b>" });
  const id = await addPrinter({ name: "A </pre><script>alert(1)</script>", client_id: "1", comment: "& co" });
  const withDirection = await addPrinter({ name: "Turned", comment: "a\u200fb", driver_id: "1" });
  const textOf = async (path: string) => (await fetch(path)).text();

  const install = await textOf(`/printers/${id}/read/install`);
  const client = await fetch("/clients/1/read/detect");
  const directionText = await textOf(`/printers/${withDirection}/read/install`);
  const statuses = await Promise.all(
    ["/printers/9/read/install", `/printers/${id}/read/x`, "/clients/9/read/install"].map((path) =>
      fetch(path),
    ),
  );

  assert.match(install, /<pre id="script-text">&lt;#\n\.SYNOPSIS/);
  assert.match(install, /Name = &#39;A &lt;\/pre&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;&#39;/);
  assert.doesNotMatch(install, /<script>alert|\ufeff/);
  assert.ok(install.includes('href="/printers/1/scripts/install"'));
  assert.match(install, /data-copy="script-text"/);
  assert.equal(client.headers.get("content-disposition"), null);
  assert.match(await client.text(), /href="\/clients\/1\/scripts\/detect"/);
  assert.match(directionText, /Comment = \(-join \(&#39;a&#39;, \[char\]0x200F, &#39;b&#39;\)\)/);
  assert.doesNotMatch(directionText, /\u200f<|[^>]\u200f/, "the page contains no direction mark");
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [404, 404, 404],
  );
});

test("the page of an install script says whether Intune's script installer accepts it", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  const ticketOf = (length: number) =>
    makeTicket(
      Object.fromEntries(Array.from({ length }, (_, i) => [`ns0000:Feature${i}`, `ns0000:Option${i}`])),
    );
  await addPrinter({ name: "Plain" });
  await addPrinter({ name: "Ticket", driver_id: "1", print_ticket: ticketOf(90) });
  await addPrinter({ name: "Long", driver_id: "1", print_ticket: ticketOf(600) });
  const paths = [
    "1/read/install",
    "2/read/install",
    "2/read/install?for=script-installer",
    "3/read/install",
    "2/read/detect",
  ];

  const [plain = "", ticket = "", short = "", long = "", detect = ""] = await Promise.all(
    paths.map(async (path) => (await fetch(`/printers/${path}`)).text()),
  );

  assert.match(plain, /Small enough for Intune’s script installer/);
  assert.match(
    ticket,
    /Too large for Intune’s script installer .50 KB.\.\s+<a href="\?for=script-installer">/,
  );
  assert.match(short, /Comments in the code are left out, for Intune’s script installer/);
  assert.match(long, /Too large for Intune’s script installer .50 KB.\.\s+Use the \.intunewin package/);
  assert.doesNotMatch(detect, /script installer/);
});

describe("a client's scripts on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  /** Runs a script with these files beside it. */
  async function run(name: string, files: Record<string, Buffer>): Promise<RunResult> {
    const folder = join(windows.folder, "fetched");
    for (const [path, bytes] of Object.entries(files)) {
      await mkdir(join(folder, path, ".."), { recursive: true });
      await writeFile(join(folder, path), bytes);
    }
    const request = { wow64: "", processArchitecture: "AMD64", failWith: "error" };
    return windows.request({ do: "run", script: join(folder, name), ...request });
  }

  test("install from the package agrees with detect and uninstall downloaded alone", async (t) => {
    const { fetch } = await appWithClient(t);
    const script = async (kind: string) => ({
      [`${kind}.ps1`]: await bytesOf(fetch(`/clients/1/scripts/${kind}`)),
    });
    await windows.setMachine();

    const before = await run("detect.ps1", await script("detect"));
    const installed = await run(
      "install.ps1",
      unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm"))),
    );
    const after = await run("detect.ps1", await script("detect"));
    const reinstalled = await run("install.ps1", await script("install"));
    const removed = await run("uninstall.ps1", await script("uninstall"));

    assert.deepEqual([before.code, installed.code, after.code], [1, 0, 0], installed.output.join("\n"));
    assert.deepEqual(after.output, ["Installed: all 3 printers"]);
    assert.deepEqual(
      installed.machine.Queues.map(({ Name }) => Name),
      ["A", "Büro “B”", "C"],
    );
    assert.equal(reinstalled.machine.Downloads, 0, "each driver is already installed");
    assert.deepEqual([removed.code, removed.machine.Queues, removed.machine.Drivers], [0, [], []]);
  });

  test("a printer's own detect script finds what its client's package installed", async (t) => {
    const { fetch } = await appWithClient(t);
    await windows.setMachine();
    const files = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));
    await run("install.ps1", files);

    const detected = await run("detect.ps1", {
      "detect.ps1": await bytesOf(fetch("/printers/2/scripts/detect")),
    });

    assert.deepEqual([detected.code, detected.output], [0, ["Installed: Büro “B”"]]);
  });
});
