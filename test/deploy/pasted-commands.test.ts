import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  commandFor,
  curlCommand,
  downloadAndRunCommand,
  downloadAndRunScript,
  exitZeroOrOne,
  unpackAndInstallScript,
} from "../../src/pkg/scripts/commands.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { execute, expandArchive, pastingMachine, textIn } from "../support/powershell/pasted.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";

test("commands contain only plain names and addresses", () => {
  assert.throws(() => commandFor("install-a b.ps1"));
  assert.throws(() => commandFor("$(calc).ps1"));
  assert.throws(() => unpackAndInstallScript("a';calc;'.zip"));
  for (const text of [downloadAndRunCommand, downloadAndRunScript, curlCommand].map((make) =>
    make("https://a/b'`$(c);&d/x"),
  )) {
    assert.ok(text.includes("https://a/b%27%60%24%28c%29%3B%26d/x"), text);
  }
  assert.match(downloadAndRunCommand("https://a/x"), /-bor 3072/);
  assert.doesNotMatch(downloadAndRunCommand("http://a/x"), /3072/);
});

test("curl saves a package and a script under the names on the page", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  await post("/clients", { name: "Kunde Müller" });
  const id = await addPrinter({ name: "Büro “1”", client_id: "1" });
  const page = await (await fetch(`/printers/${id}`)).text();
  const folder = await temporaryFolder(t);
  const commands = [...page.matchAll(/>(curl [^<]*)</g)].map((match) =>
    (match[1] ?? "").replaceAll("&quot;", '"'),
  );

  const ran = await Promise.all(commands.map((command) => execute("/bin/sh", ["-c", command], folder)));
  const refused = await execute(
    "/bin/sh",
    ["-c", commands[0]?.replace("packages/", "packages/x") ?? ""],
    folder,
  );

  assert.equal(commands.length, 2);
  assert.deepEqual(
    ran.map(({ code }) => code),
    [0, 0],
  );
  assert.notEqual(refused.code, 0, "curl fails on a refusal");
  assert.deepEqual((await readdir(folder)).sort(), ["install-buro-1.ps1", "kunde-muller-buro-1.zip"]);
  assert.ok(page.includes("-File .\\install-buro-1.ps1"), "the command names the file as it is downloaded");
  assert.ok(page.includes("Expand-Archive -LiteralPath .\\kunde-muller-buro-1.zip"));
});

describe("commands pasted into a real PowerShell", { skip: withoutPowerShell }, () => {
  for (const owner of selectCases(["printers", "clients"], 1)) {
    test(`download the install script of ${owner}, run it, return its exit code and leave no file`, async (t) => {
      const { fetch, addPrinter, post } = await startApp(t);
      await post("/clients", { name: "O'Brien" });
      await addPrinter({ client_id: "1", name: "Büro" });
      const page = await (await fetch(`/${owner}/1`)).text();
      const { folder, run } = await pastingMachine(t, 203);

      const line = await run(textIn(page, "rmm-one-line"));
      const ranByLine = await readFile(join(folder, "script.ps1"));
      const script = await run(textIn(page, "rmm-snippet-1"));
      const args = (await readFile(join(folder, "arguments"), "utf8")).trim().split("\n");

      assert.match(line.output, /^Exit code 203$/m);
      assert.equal(script.code, 203);
      const served = await bytesOf(fetch(`/${owner}/1/scripts/install`));
      assert.ok(ranByLine.equals(served), "the same bytes, with the byte order mark");
      assert.ok((await readFile(join(folder, "script.ps1"))).equals(served));
      assert.deepEqual(args.slice(0, -1), [
        "-NoProfile",
        "-NonInteractive",
        "-ExecutionPolicy",
        "Bypass",
        "-File",
      ]);
      assert.match(args.at(-1) ?? "", /[0-9a-f-]{36}\.ps1$/);
      assert.deepEqual(
        (await readdir(join(folder, "tmp"))).filter((name) => name.endsWith(".ps1")),
        [],
      );
    });
  }

  deepTest("download the diagnosis, run it and return its exit code", async (t) => {
    const { fetch, addPrinter } = await startApp(t);
    const id = await addPrinter({ name: "Büro" });
    const page = await (await fetch(`/printers/${id}`)).text();
    const { folder, run } = await pastingMachine(t, 1);

    const line = await run(textIn(page, "diagnosis"));

    const served = await bytesOf(fetch(`/printers/${id}/scripts/diagnose`));
    assert.match(line.output, /^Exit code 1$/m);
    assert.ok((await readFile(join(folder, "script.ps1"))).equals(served));
  });

  test("fail clearly if the service refuses, and run nothing", async (t) => {
    const { url, post } = await startApp(t);
    await post("/printers", { name: "Bare", address: "10.0.0.1" });
    const { folder, run } = await pastingMachine(t, 0);

    const script = await run(downloadAndRunScript(`${url}/printers/1/scripts/install`));

    assert.notEqual(script.code, 0);
    assert.match(script.output, /“Bare” has no driver: choose one on the printer’s page/);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name === "arguments"),
      [],
    );
  });

  test("unpack the attached ZIP and install from it, for Level with 1 as the only failure", async (t) => {
    const { fetch, addPrinter } = await startApp(t);
    const id = await addPrinter({ name: "Office" });
    const zip = await bytesOf(fetch(`/printers/${id}/packages/rmm`));
    const codes: number[] = [];
    for (const [code, text] of [
      [203, unpackAndInstallScript("office.zip")],
      [203, unpackAndInstallScript("office.zip", { exit: exitZeroOrOne })],
      [0, unpackAndInstallScript("office.zip", { exit: exitZeroOrOne })],
    ] as const) {
      const { folder, run } = await pastingMachine(t, code);
      await writeFile(join(folder, "office.zip"), zip);
      const ran = await run(
        `${expandArchive}\n${text.replaceAll(".\\platen\\install.ps1", "./platen/install.ps1")}`,
      );
      codes.push(ran.code);
      assert.match(await readFile(join(folder, "script.ps1"), "utf8"), /Name = 'Office'/);
    }

    assert.deepEqual(codes, [203, 1, 0]);
  });
});
