import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { renderFromPcScript } from "../../src/pkg/scripts/operator-scripts.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { cleanUp } from "../support/clean-up.ts";
import { type InfOptions, printerInf } from "../support/drivers/driver-zip.ts";
import { unpackers } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { queue } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const odd = `O'Brien [x] & "y"`;
const windows = simulatedWindows();
const storePath = join(windows.folder, "Windows/System32/DriverStore/FileRepository");

/** A driver as a machine lists it. */
const driver = (Name: string, InfPath = "", more = {}) => ({
  ...{ Name, InfPath, Version: "1.2.3.4", Date: "06/21/2025" },
  ...more,
});

/** Writes a driver's package as Windows keeps it. @returns the path of its INF */
function stage(folder: string, options: InfOptions = {}, files: Record<string, string> = {}): string {
  const path = join(storePath, folder);
  const all = { "papyrus.inf": printerInf(options), "papyrus.cat": "catalog", "x64/papyrus.dll": "a DLL" };
  for (const [name, content] of Object.entries({ ...all, "papyrus.PNF": "compiled", ...files })) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return join(path, "papyrus.inf");
}

/** A print server with drivers of every kind: two of one package, one of Windows, one whose package is lost. */
async function startServer(more: Machine = {}): Promise<void> {
  const shared = join(storePath, "papyrus.inf_amd64_1/papyrus.inf");
  await windows.setMachine({
    Drivers: [
      driver("Papyrus 200 PS", shared),
      driver("Papyrus 100 PCL6", shared),
      driver("Lost Driver", join(storePath, "lost.inf_amd64_1/lost.inf")),
      driver("Microsoft Print To PDF", "", { Manufacturer: "Microsoft" }),
      driver("Papyrus 100 PCL6", "nowhere.inf", { Environment: "Windows NT x86" }),
      driver("Old Driver", "nowhere.inf", { Environment: "Windows NT x86" }),
    ],
    Queues: [queue("Front Desk", "IP_10.0.0.9"), queue("Back Office", "IP_10.0.0.8")],
    ...more,
  } as Machine);
  stage("papyrus.inf_amd64_1", { models: ["Papyrus 100 PCL6", "Papyrus 200 PS"] });
}

/** Runs the script. @returns its exit code and its lines */
async function run(service: Pick<TestApp, "url">, parameters: Record<string, unknown>, script?: string) {
  const text = script ?? renderFromPcScript("");
  const Url = script === undefined ? { Url: service.url } : {};
  const { code, output, errors, left } = await windows.runText(text, {
    parameters: { ...Url, ...parameters },
  });
  assert.deepEqual([errors, left], [[], 0]);
  return { code, lines: output };
}

const uploaded = ({ app }: TestApp) => app.store.drivers.list();

describe("from-pc.ps1", { skip: withoutPowerShell }, () => {
  test("the script as it is served uploads the package of a driver with an odd name, and says when Platen has it already", async (t) => {
    const service = await startApp(t);
    const script = await (await service.fetch("/drivers/from-pc")).text();
    await windows.setMachine({ Drivers: [driver(odd, join(storePath, "o'brien [x]/papyrus.inf"))] });
    stage("o'brien [x]", { models: ["Papyrus 100 PCL6"] });

    const first = await run(service, { Name: odd.toUpperCase() }, script);
    const again = await run(service, { Name: odd }, script);

    const [made, ...others] = uploaded(service);
    const page = `${service.url}/drivers/${made?.id}`;
    const archive = await bytesOf(fetch(`${page}/archive`));
    assert.deepEqual(first, { code: 0, lines: [`${odd} was uploaded: ${page}`] });
    assert.deepEqual(again, { code: 0, lines: [`${odd} is already in Platen: ${page}`] });
    assert.deepEqual([others, made?.file_name], [[], "papyrus-1.2.3.4.zip"]);
    assert.deepEqual(Object.keys(unpackers.fflate(archive)), [
      "papyrus.cat",
      "papyrus.inf",
      "x64/papyrus.dll",
    ]);
  });

  test("-All uploads each package once, leaves out what Windows brings, and names the driver whose package is lost", async (t) => {
    const service = await startApp(t);
    await startServer();

    const { code, lines } = await run(service, { All: true });

    assert.equal(code, 2, lines.join("\n"));
    assert.deepEqual(
      uploaded(service).map(({ file_name }) => file_name),
      ["papyrus-1.2.3.4.zip"],
    );
    assert.match(
      lines[0] ?? "",
      /^Lost Driver was not uploaded: its package is not in the driver store: there is no .*lost\.inf\. Download/,
    );
    assert.match(lines[1] ?? "", /^Papyrus 100 PCL6, Papyrus 200 PS was uploaded: http.*\/drivers\/1$/);
    assert.equal(lines.length, 2);
  });

  test("without parameters, lists the drivers with their queues and uploads the one that is chosen", async (t) => {
    const service = await startApp(t);
    await startServer({ Answers: ["2"] });

    const { code, lines } = await run(service, {});

    assert.deepEqual(lines.slice(0, 3), [
      "1  Lost Driver 1.2.3.4 (no queue)",
      "2  Papyrus 100 PCL6 1.2.3.4 (Front Desk, Back Office)",
      "3  Papyrus 200 PS 1.2.3.4 (no queue)",
    ]);
    assert.match(`${code} ${lines[3]}`, /^0 Papyrus 100 PCL6 was uploaded/);
  });

  test("-WhatIf lists the drivers, and asks Platen nothing", async () => {
    await startServer();

    const { code, lines } = await run({ url: "http://127.0.0.1:1" }, { WhatIf: true });

    assert.deepEqual([code, lines.length], [0, 3]);
  });

  test("takes the INF from the registry, and lets pnputil export a package that is only published", async (t) => {
    const service = await startApp(t);
    const key = (name: string) =>
      `HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Print\\Environments\\Windows x64\\Drivers\\Version-3\\${name}`;
    await startServer({
      Drivers: [driver("Papyrus/100"), driver("Papyrus 300", "C:\\Windows\\INF\\oem7.inf")],
      Registry: { [key("Papyrus/100")]: { InfPath: join(storePath, "papyrus.inf_amd64_1/papyrus.inf") } },
      Published: { "oem7.inf": join(storePath, "papyrus.inf_amd64_7") },
    });
    stage("papyrus.inf_amd64_7", { version: "7.0.0.0" });

    const { code, lines } = await run(service, { All: true });
    await windows.changeMachine({ PnpCode: 5 });
    const denied = await run(service, { Name: "papyrus 300" });

    assert.equal(code, 0, lines.join("\n"));
    assert.equal(uploaded(service).length, 2);
    assert.equal(denied.code, 1);
    assert.match(
      denied.lines.join(),
      /Papyrus 300 was not uploaded: Windows lets only administrators export oem7\.inf\./,
    );
  });

  test("an INF that Windows publishes unchanged is its own", async (t) => {
    const service = await startApp(t);
    await startServer();
    const published = join(windows.folder, "Windows/INF");
    mkdirSync(published);
    writeFileSync(
      join(published, "papyrus.inf"),
      printerInf({ models: ["Papyrus 100 PCL6", "Papyrus 200 PS"] }),
    );

    const { code, lines } = await run(service, { Name: "Papyrus 200 PS" });

    assert.deepEqual(
      [code, lines],
      [1, ["Failed: The driver 'Papyrus 200 PS' comes with Windows. Platen needs no package of it."]],
    );
  });

  const lists = "It has: Lost Driver, Papyrus 100 PCL6, Papyrus 200 PS.";
  const refusals: readonly (readonly [Record<string, unknown>, string, Machine?])[] = [
    [{ Name: "Papyrus*" }, `This PC has no driver 'Papyrus*'. ${lists}`],
    [
      { Name: "Microsoft Print to PDF" },
      "The driver 'Microsoft Print To PDF' comes with Windows. Platen needs no package of it.",
    ],
    [
      { Name: "Old Driver" },
      "The driver 'Old Driver' is here for Windows NT x86 only. Run this script on such a PC.",
    ],
    [{ Name: "Papyrus 100 PCL6", All: true }, "Use -Name or -All, not both."],
    [{ All: true, Token: "platen_x" }, "-Token takes a SecureString: (Read-Host -AsSecureString)."],
    [{ All: true, Url: "ftp://platen" }, "-Url takes an address that begins with https:// or http://."],
    [{}, "This session cannot ask. Use -Name or -All."],
    [{}, "There is no driver with the number '4'.", { Answers: ["4"] }],
    [
      {},
      "This is a 32-bit PowerShell. Run the script in the 64-bit one.",
      { ProcessArchitecture: "x86", Wow64: "AMD64" },
    ],
  ];
  test("refuses what cannot work, with the reason as its last line", async (t) => {
    const service = await startApp(t);
    for (const [parameters, message, machine] of refusals) {
      await startServer(machine);

      const { code, lines } = await run(service, parameters);

      assert.deepEqual([code, lines.at(-1)], [1, `Failed: ${message}`]);
    }
    assert.equal(uploaded(service).length, 0);
  });

  test("says why Platen refuses a package", async (t) => {
    const service = await startApp(t, { uploadLimitBytes: 1000 });
    await windows.setMachine({ Drivers: [driver("Papyrus", join(storePath, "a.inf_1/papyrus.inf"))] });
    stage(
      "a.inf_1",
      {},
      { "big.bin": "abc".repeat(50).concat(Array.from({ length: 2000 }, (_, i) => i).join()) },
    );

    const { code, lines } = await run(service, { All: true });

    assert.equal(code, 1);
    assert.match(lines.join(), /^Papyrus was not uploaded: Platen answered 413: This ZIP is larger than/);
  });

  test("names a proxy that refuses a large file before it is sent, and an address that has moved", async (t) => {
    const proxy = createServer((request, response) => {
      if (request.url?.startsWith("/old")) response.writeHead(301, { Location: "https://platen.example" });
      response.end();
    });
    let received = 0;
    proxy.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      request.on("data", ({ length }: Buffer) => {
        received += length;
      });
      response.writeHead(413, { Connection: "close" }).end("<html>Request Entity Too Large</html>");
    });
    await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
    cleanUp(t, () => proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    await startServer();

    const refused = await run({ url }, { Name: "Papyrus 100 PCL6" });
    const moved = await run({ url: `${url}/old` }, { Name: "Papyrus 100 PCL6" });

    assert.equal(received, 0);
    assert.match(
      `${refused.code} ${refused.lines}`,
      /^1 Papyrus 100 PCL6 was not uploaded: a proxy in front of Platen refused the file \(413\)/,
    );
    assert.match(
      `${moved.code} ${moved.lines}`,
      /^1 Failed: Platen's address leads to https:\/\/platen\.example\/\. Use -Url/,
    );
  });

  test("asks for a token where Platen does, and sends it only to a safe address", async (t) => {
    const { service, addToken } = await startGuarded(t);
    const [token, other] = [await addToken("upload"), await addToken("read")];
    const asked = async (answers: string[], parameters: Record<string, unknown> = {}) => {
      await startServer({ Answers: answers });
      const { code, lines } = await run(service, { Name: "Papyrus 100 PCL6", ...parameters });
      assert.ok(![token, other].some((secret) => lines.join().includes(secret)));
      return `${code} ${lines.join()}`;
    };

    assert.match(await asked([]), /^1 Failed: Platen asks for a sign-in\. Use -Token/);
    assert.match(
      await asked(["platen_mistyped"]),
      /^1 Failed: Platen answered 401: Platen does not know this token/,
    );
    assert.match(
      await asked([], { Token: { Secure: other } }),
      /^1 Failed: Platen answered 403: The token “for read” does not allow this/,
    );
    const unsafe = { Url: "http://platen.example", Token: { Secure: token } };
    assert.match(await asked([], unsafe), /^1 Failed: http:\/\/platen\.example is not encrypted: /);
    const allowed = { Url: service.url.replace("127.0.0.1", "0.0.0.0"), Token: { Secure: other } };
    assert.doesNotMatch(await asked([], { ...allowed, AllowHttp: true }), /is not encrypted/);
    assert.equal(uploaded(service).length, 0);
    assert.match(await asked([token]), /^0 Papyrus 100 PCL6 was uploaded: http/);
    assert.match(await asked([], { Token: { Secure: token } }), /^0 Papyrus 100 PCL6 is already in Platen/);
  });
});
