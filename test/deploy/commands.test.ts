import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
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
import { textOf, textsOf } from "../support/deploy/answers.ts";
import { pasting } from "../support/deploy/pasting.ts";
import { selectCases } from "../support/depth.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { execute, expandArchive, textIn } from "../support/powershell/pasted.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { windowsOnNetwork } from "../support/powershell/simulated-windows.ts";

async function withPrinter(t: TestContext): Promise<TestApp> {
  const app = await startApp(t);
  await app.post("/clients", { name: "O'Brien" });
  await app.addPrinter({ client_id: "1", name: "Büro" });
  return app;
}

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

describe("commands pasted into a real PowerShell", { skip: withoutPowerShell }, () => {
  const windows = windowsOnNetwork();
  /** What a tool gets: the exit code, or its number in the output. */
  const codesOf = (results: readonly { readonly code: number; readonly output: string }[]) =>
    results.map(({ code, output }) => Number(/^Exit code (\d+)\r?$/m.exec(output)?.[1] ?? code));
  const commandsIn = (page: string) =>
    ["rmm-one-line", "rmm-snippet-1", "diagnosis"].map((id) => textIn(page, id));

  for (const owner of selectCases(["printers", "clients"], 1))
    test(`run the scripts of ${owner} as they are served and return their exit code; checked ones refuse a change`, async (t) => {
      const service = await withPrinter(t);
      const [page = "", checked = ""] = await textsOf(service, [`/${owner}/1`, `/${owner}/1?check=1`]);
      const own = ["install", "install", "diagnose"].map((kind) => `/${owner}/1/scripts/${kind}`);
      const served = await Promise.all([...own, ...own].map((path) => bytesOf(service.fetch(path))));
      const { folder, paste } = await pasting(t, windows, 203);
      const script = join(folder, "script.ps1");

      for (const [i, command] of [...commandsIn(page), ...commandsIn(checked).slice(0, 2)].entries()) {
        const results = await paste(command);
        assert.deepEqual(codesOf(results), [203]);
        assert.deepEqual(await readFile(script), served[i], "the same bytes, with the byte order mark");
      }
      const args = (await readFile(join(folder, "arguments"), "utf8")).trim().split("\n");
      await writeFile(script, "");
      const changed = { name: "Büro", address: "10.0.0.99", client_id: "1", driver_id: "1" };
      await service.post("/printers/1", changed);
      const refused = await paste(...commandsIn(checked).slice(0, 2));

      const fixed = ["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"];
      assert.deepEqual(args.slice(0, -1), fixed);
      assert.match(args.at(-1) ?? "", /[0-9a-f-]{36}\.ps1$/);
      assert.deepEqual(codesOf(refused), [1603, 1603]);
      for (const { output } of refused)
        assert.match(output, /^Failed: This script is not the one that Platen showed\. Nothing ran\./);
      assert.equal((await readFile(script)).length, 0, "nothing ran");
      assert.doesNotMatch((await readdir(join(folder, "tmp"))).join(), /\.ps1/);
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
      return ran.map(({ code }) => code);
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

    const first = await paste(command);
    now += 5 * 24 * 60 * 60_000;
    const later = await paste(command);

    assert.match(command, /\.Hash -ne '[0-9A-F]{64}'/);
    assert.match(page, /Over http, others on the network can change a script/);
    assert.match(longer, /Get-FileHash/, "a link's script keeps its bytes as long as the link is valid");
    assert.deepEqual(codesOf([...first, ...later]), [203, 203]);
  });
});
