import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { noProxies } from "../../src/domain/access/proxies.ts";
import { recordOrigin } from "../../src/http/sender.ts";
import { serviceUrl } from "../../src/http/service-url.ts";
import {
  commandFor,
  curlCommand,
  downloadAndRunCommand,
  downloadAndRunScript,
  exitZeroOrOne,
  unpackAndInstallScript,
} from "../../src/pkg/scripts/commands.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { fetchAll, statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { pasting } from "../support/deploy/pasting.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { execute, expandArchive, textIn } from "../support/powershell/pasted.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { ownWindows } from "../support/powershell/simulated-windows.ts";

async function withPrinter(t: TestContext, options: Parameters<typeof startApp>[1] = {}): Promise<TestApp> {
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

test("commands contain only plain names and addresses, and nothing but a SHA-256 in hex", () => {
  assert.throws(() => commandFor("install-a b.ps1"));
  assert.throws(() => commandFor("$(calc).ps1"));
  assert.throws(() => unpackAndInstallScript("a';calc;'.zip"));
  assert.throws(() => downloadAndRunCommand("http://a/x", "'; calc; '"));
  assert.throws(() => downloadAndRunScript("http://a/x", { sha256: "" }));
  for (const make of [downloadAndRunCommand, downloadAndRunScript, curlCommand]) {
    const text = make("https://a/b'`$(c);&d/x");
    assert.ok(text.includes("https://a/b%27%60%24%28c%29%3B%26d/x"), text);
  }
  assert.match(downloadAndRunCommand("https://a/x"), /-bor 3072/);
  assert.doesNotMatch(downloadAndRunCommand("http://a/x"), /3072/);
});

test("curl saves a package and a script under the names on the page", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  await post("/clients", { name: "Kunde Müller" });
  const id = await addPrinter({ name: "Büro “1”", client_id: "1" });
  const page = await textOf(fetch(`/printers/${id}`));
  const folder = await temporaryFolder(t);
  const [zip = "", script = "", ...others] = [...page.matchAll(/>(curl [^<]*)</g)].map(([, text = ""]) =>
    text.replaceAll("&quot;", '"'),
  );
  const run = async (command: string) => (await execute("/bin/sh", ["-c", command], folder)).code;

  const ran = [await run(zip), await run(script)];
  const refused = await run(zip.replace("packages/", "packages/x"));

  assert.deepEqual([ran, others], [[0, 0], []]);
  assert.notEqual(refused, 0, "curl fails on a refusal");
  assert.deepEqual((await readdir(folder)).sort(), ["install-buro-1.ps1", "kunde-muller-buro-1.zip"]);
  assert.ok(page.includes("-File .\\install-buro-1.ps1"), "the command names the file as it is downloaded");
  assert.ok(page.includes("Expand-Archive -LiteralPath .\\kunde-muller-buro-1.zip"));
});

deepTest(
  "over http, pages warn and link to commands that check the script first; over https, neither",
  async (t) => {
    const plain = await withPrinter(t);
    const secure = await withPrinter(t, { publicUrl: "https://platen.example" });
    for (const [path, checked] of selectCases(owners, 2)) {
      const checkedPath = checked.replaceAll("&amp;", "&");
      const texts = [...(await textsOf(plain, [path, checkedPath])), await textOf(secure.fetch(checkedPath))];
      const [page = "", other = "", overHttps = ""] = texts.map((text) => text.replace(/\s+/g, " "));

      assert.match(page, /Over http, others on the network can change a script that runs as SYSTEM\./);
      assert.ok(page.includes(`href="${checked}#card-rmm"`), path);
      assert.doesNotMatch(page, /Get-FileHash/);
      assert.match(textIn(other, "rmm-one-line"), /\.Hash -ne '[0-9A-F]{64}'/, path);
      assert.match(other, /Commands on this page run only a script with the right SHA-256\./);
      assert.ok(!other.includes("#card-rmm"));
      assert.match(overHttps, /https:\/\/platen\.example/);
      assert.doesNotMatch(overHttps, /Get-FileHash|Over http|check=1/);
    }
  },
);

deepTest("a page whose scripts cannot be made is shown without them", async (t) => {
  const service = await withPrinter(t);
  const { store } = service.app;
  await service.post("/printers", { name: "Bare", address: "10.0.0.1" });
  await store.blobs.remove("drivers", store.drivers.get(1).sha256);

  const answers = await fetchAll(service, ["/printers/2?check=1", "/clients/1?check=1"]);

  assert.deepEqual(statusesOf(answers), [200, 200]);
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

describe("commands pasted into a real PowerShell", { skip: withoutPowerShell }, () => {
  const windows = ownWindows();
  const temporaryScripts = async (folder: string) =>
    (await readdir(join(folder, "tmp"))).filter((name) => name.endsWith(".ps1"));
  const commandsIn = (page: string) => [textIn(page, "rmm-one-line"), textIn(page, "rmm-snippet-1")] as const;

  for (const owner of selectCases(["printers", "clients"], 1)) {
    test(`download the install script of ${owner}, run it, return its exit code and leave no file`, async (t) => {
      const { fetch } = await withPrinter(t);
      const [oneLine, snippet] = commandsIn(await textOf(fetch(`/${owner}/1`)));
      const { folder, paste } = await pasting(t, windows, 203);
      const ran = () => readFile(join(folder, "script.ps1"));

      const [line] = await paste(oneLine);
      const ranByLine = await ran();
      const [script] = await paste(snippet);
      const args = (await readFile(join(folder, "arguments"), "utf8")).trim().split("\n");

      const served = await bytesOf(fetch(`/${owner}/1/scripts/install`));
      assert.match(line?.output ?? "", /^Exit code 203$/m);
      assert.equal(script?.code, 203);
      assert.ok(ranByLine.equals(served), "the same bytes, with the byte order mark");
      assert.ok((await ran()).equals(served));
      const fixed = ["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"];
      assert.deepEqual(args.slice(0, -1), fixed);
      assert.match(args.at(-1) ?? "", /[0-9a-f-]{36}\.ps1$/);
      assert.deepEqual(await temporaryScripts(folder), []);
    });

    test(`run the checked script of ${owner} as it is served, and refuse it after a change`, async (t) => {
      const { fetch, post } = await withPrinter(t);
      const commands = commandsIn(await textOf(fetch(`/${owner}/1?check=1`)));
      const { folder, paste } = await pasting(t, windows, 203);

      const right = await paste(...commands);
      const served = await bytesOf(fetch(`/${owner}/1/scripts/install`));
      const ran = await readFile(join(folder, "script.ps1"));
      await writeFile(join(folder, "script.ps1"), "");
      await post("/printers/1", { name: "Büro", address: "10.0.0.99", client_id: "1", driver_id: "1" });
      const changed = await paste(...commands);

      const failed = /^Failed: This script is not the one that Platen showed\. Nothing ran\./;
      assert.match(right[0]?.output ?? "", /^Exit code 203$/m);
      assert.equal(right[1]?.code, 203);
      assert.ok(ran.equals(served));
      assert.match(changed[0]?.output ?? "", failed);
      assert.match(changed[0]?.output ?? "", /\n+Exit code 1603\r?\n?$/);
      assert.match(changed[1]?.output ?? "", failed);
      assert.equal(changed[1]?.code, 1603);
      assert.equal((await readFile(join(folder, "script.ps1"))).length, 0, "nothing ran");
      assert.deepEqual(await temporaryScripts(folder), []);
    });
  }

  test("download the diagnosis, run it and return its exit code, with a check and without", async (t) => {
    const { fetch } = await withPrinter(t);
    const { folder, paste } = await pasting(t, windows, 1);
    for (const path of ["/printers/1", "/printers/1?check=1"]) {
      const [line] = await paste(textIn(await textOf(fetch(path)), "diagnosis"));

      assert.match(line?.output ?? "", /^Exit code 1$/m);
      const served = await bytesOf(fetch("/printers/1/scripts/diagnose"));
      assert.ok((await readFile(join(folder, "script.ps1"))).equals(served));
    }
  });

  test("fail clearly if the service refuses, and run nothing", async (t) => {
    const { url, post } = await startApp(t);
    await post("/printers", { name: "Bare", address: "10.0.0.1" });
    const { folder, paste } = await pasting(t, windows, 0);

    const [script] = await paste(downloadAndRunScript(`${url}/printers/1/scripts/install`));

    assert.notEqual(script?.code, 0);
    assert.match(script?.output ?? "", /“Bare” has no driver: choose one on the printer’s page/);
    assert.ok(!(await readdir(folder)).includes("arguments"));
  });

  test("unpack the attached ZIP and install from it, for Level with 1 as the only failure", async (t) => {
    const { fetch, addPrinter } = await startApp(t);
    const zip = await bytesOf(fetch(`/printers/${await addPrinter({ name: "Office" })}/packages/rmm`));
    const pasteWith = async (code: number, ...texts: string[]) => {
      const { folder, paste } = await pasting(t, windows, code);
      await writeFile(join(folder, "office.zip"), zip);
      const here = texts.map((text) => text.replaceAll(".\\platen\\install.ps1", "./platen/install.ps1"));
      const ran = await paste(...here.map((text) => `${expandArchive}\n${text}`));
      assert.match(await readFile(join(folder, "script.ps1"), "utf8"), /Name = 'Office'/);
      return ran.map((result) => result.code);
    };
    const forLevel = unpackAndInstallScript("office.zip", { exit: exitZeroOrOne });

    const codes = [
      ...(await pasteWith(203, unpackAndInstallScript("office.zip"), forLevel)),
      ...(await pasteWith(0, forLevel)),
    ];

    assert.deepEqual(codes, [203, 1, 0]);
  });

  test("run a link's script until the link ends, also on later days", async (t) => {
    let now = Date.UTC(2026, 10, 21, 12);
    const { operator, admin } = await startGuarded(t, { clock: () => now });
    await admin.addPrinter();
    const address = "/printers/1/scripts/install";
    const make = (days: string) => textOf(operator.post("/printers/1/links", { address, days }));
    const [page, longer] = [await make("7"), await make("90")];
    const command = textIn(page, "link-2");
    const { paste } = await pasting(t, windows, 203);

    const [first] = await paste(command);
    now += 5 * 24 * 60 * 60_000;
    const [later] = await paste(command);

    assert.match(command, /\.Hash -ne '[0-9A-F]{64}'/);
    assert.match(page, /Over http, others on the network can change a script/);
    assert.doesNotMatch(longer, /Get-FileHash/, "links in this script would change its bytes every day");
    assert.match(first?.output ?? "", /^Exit code 203$/m);
    assert.match(later?.output ?? "", /^Exit code 203$/m);
  });
});
