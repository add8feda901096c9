import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { noProxies } from "../../src/domain/access/proxies.ts";
import { recordOrigin } from "../../src/http/sender.ts";
import { serviceUrl } from "../../src/http/service-url.ts";
import { downloadAndRunCommand, downloadAndRunScript } from "../../src/pkg/scripts/commands.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { selectCases } from "../support/depth.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { pastingMachine, textIn } from "../support/powershell/pasted.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";

/** The text of a page, without regard to line breaks. */
const pageText = async (answer: Promise<Response>) => (await (await answer).text()).replace(/\s+/g, " ");

async function appWithPrinter(
  t: TestContext,
  options: Parameters<typeof startApp>[1] = {},
): Promise<TestApp> {
  const app = await startApp(t, options);
  await app.post("/clients", { name: "O'Brien" });
  await app.addPrinter({ client_id: "1", name: "Büro" });
  return app;
}

const owners = [
  ["/printers/1", "/printers/1?check=1"],
  ["/clients/1", "/clients/1?check=1"],
  ["/drivers/1?tab=deploy", "/drivers/1?tab=deploy&amp;check=1"],
] as const;

test("over http, pages warn and link to commands that check the script first", async (t) => {
  const { fetch } = await appWithPrinter(t);
  for (const [path, checked] of owners) {
    const page = await pageText(fetch(path));

    assert.match(page, /Over http, others on the network can change a script that runs as SYSTEM\./);
    assert.ok(page.includes(`href="${checked}#card-rmm"`), path);
    assert.doesNotMatch(page, /Get-FileHash/);

    const other = await pageText(fetch(checked.replaceAll("&amp;", "&")));

    assert.match(textIn(other, "rmm-one-line"), /\.Hash -ne '[0-9A-F]{64}'/, path);
    assert.match(other, /Commands on this page run only a script with the right SHA-256\./);
    assert.ok(!other.includes("#card-rmm"));
  }
});

test("over https, pages have no warning and no commands with a check", async (t) => {
  const { fetch } = await appWithPrinter(t, { publicUrl: "https://platen.example" });
  for (const [, checked] of owners) {
    const page = await pageText(fetch(checked.replaceAll("&amp;", "&")));

    assert.match(page, /https:\/\/platen\.example/);
    assert.doesNotMatch(page, /Get-FileHash|Over http|check=1/);
  }
});

test("a page whose scripts cannot be made is shown without them", async (t) => {
  const { app, fetch, post } = await appWithPrinter(t);
  await post("/printers", { name: "Bare", address: "10.0.0.1" });
  await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);

  const answers = await Promise.all(["/printers/2?check=1", "/clients/1?check=1"].map((path) => fetch(path)));

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
});

test("the spelling of the host in a request changes neither a script nor its SHA-256", async (t) => {
  const { app } = await startApp(t);
  const spelled = (host: string) => {
    const request = { headers: { host }, socket: { remoteAddress: "10.0.0.7" } } as never;
    recordOrigin({ config: { ...app.config, proxies: noProxies }, random: app.random }, request);
    return serviceUrl(request, app.config);
  };

  assert.equal(spelled("PLATEN.lan:80"), "http://platen.lan");
  assert.equal(spelled("platen.lan:8080"), "http://platen.lan:8080");
});

test("a command takes nothing but a SHA-256 in hex", () => {
  assert.throws(() => downloadAndRunCommand("http://a/x", "'; calc; '"));
  assert.throws(() => downloadAndRunScript("http://a/x", { sha256: "" }));
});

describe("checked commands pasted into a real PowerShell", { skip: withoutPowerShell }, () => {
  for (const owner of selectCases(["printers", "clients"], 1)) {
    test(`run the script of ${owner} as it is served, and refuse it after a change`, async (t) => {
      const { fetch, post } = await appWithPrinter(t);
      const page = await (await fetch(`/${owner}/1?check=1`)).text();
      const [line, script] = [textIn(page, "rmm-one-line"), textIn(page, "rmm-snippet-1")];
      const { folder, run } = await pastingMachine(t, 203);

      const right = [await run(line), await run(script)];
      const served = await bytesOf(fetch(`/${owner}/1/scripts/install`));
      const ran = await readFile(join(folder, "script.ps1"));
      await writeFile(join(folder, "script.ps1"), "");
      await post("/printers/1", { name: "Büro", address: "10.0.0.99", client_id: "1", driver_id: "1" });
      const changed = [await run(line), await run(script)];

      assert.match(right[0]?.output ?? "", /^Exit code 203$/m);
      assert.equal(right[1]?.code, 203);
      assert.ok(ran.equals(served));
      assert.match(
        changed[0]?.output ?? "",
        /^Failed: This script is not the one that Platen showed\..*\n+Exit code 1603$/m,
      );
      assert.match(
        changed[1]?.output ?? "",
        /^Failed: This script is not the one that Platen showed\. Nothing ran\./,
      );
      assert.equal(changed[1]?.code, 1603 % 256, "an exit code here has 8 bits");
      assert.equal((await readFile(join(folder, "script.ps1"))).length, 0, "nothing ran");
      const left = await readdir(join(folder, "tmp"));
      assert.deepEqual(
        left.filter((name) => name.endsWith(".ps1")),
        [],
      );
    });
  }

  test("run a diagnosis as it is served", async (t) => {
    const { fetch } = await appWithPrinter(t);
    const page = await (await fetch("/printers/1?check=1")).text();
    const { folder, run } = await pastingMachine(t, 1);

    const line = await run(textIn(page, "diagnosis"));

    const served = await bytesOf(fetch("/printers/1/scripts/diagnose"));
    assert.match(line.output, /^Exit code 1$/m);
    assert.ok((await readFile(join(folder, "script.ps1"))).equals(served));
  });

  test("run a link's script until the link ends, also on later days", async (t) => {
    let now = Date.UTC(2026, 10, 21, 12);
    const { operator, admin } = await startGuarded(t, { clock: () => now });
    await admin.addPrinter();
    const make = async (days: string) =>
      (await operator.post("/printers/1/links", { address: "/printers/1/scripts/install", days })).text();
    const [page, longer] = [await make("7"), await make("90")];
    const command = textIn(page, "link-2");
    const { run } = await pastingMachine(t, 203);

    const first = await run(command);
    now += 5 * 24 * 60 * 60_000;
    const later = await run(command);

    assert.match(command, /\.Hash -ne '[0-9A-F]{64}'/);
    assert.match(page, /Over http, others on the network can change a script/);
    assert.doesNotMatch(longer, /Get-FileHash/, "links in this script would change its bytes every day");
    assert.match(first.output, /^Exit code 203$/m);
    assert.match(later.output, /^Exit code 203$/m);
  });
});
