import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { PackageFacts } from "../../src/pkg/formats/format.ts";
import { rmm } from "../../src/pkg/formats/rmm.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { fetchAll, textOf, textsOf } from "../support/deploy/answers.ts";
import { textIn } from "../support/powershell/pasted.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { powershellParser } from "../support/powershell/powershell-syntax.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const subnets: PackageFacts["subnets"] = { networks: "10.1.2.0/24", names: ["10.1.2.0/24"] } as never;
const urls = (scheme: string) => ({
  package: `${scheme}://platen.lan/printers/1/packages/rmm`,
  install: `${scheme}://platen.lan/printers/1/scripts/install`,
});

/** The facts of a printer, as far as guides use them. */
const factsWith = (given: Partial<PackageFacts>) => {
  const names = { fileName: "office.zip", detectionFileName: "detect-office.ps1" };
  return {
    ...names,
    urls: undefined,
    installSha256: undefined,
    subnets: undefined,
    ...given,
  } as PackageFacts;
};

const kinds: Readonly<Record<string, PackageFacts>> = {
  "with links only": factsWith({}),
  "over http": factsWith({ urls: urls("http") }),
  "over http, with a check": factsWith({ urls: urls("http"), installSha256: "a".repeat(64) }),
  "over https, with subnets": factsWith({ urls: urls("https"), subnets }),
};

test("each guide has two to six steps, and every tool has one guide", () => {
  for (const [kind, facts] of Object.entries(kinds)) {
    const guides = rmm.tools(facts);

    const odd = guides.filter(
      ({ steps }) => steps.length < 2 || steps.length > 6 || /undefined|null/.test(steps.join()),
    );
    assert.equal(new Set(guides.map(({ tool }) => tool)).size, 14);
    assert.deepEqual(odd, [], kind);
  }
});

test("the pages of a printer, client and driver link to the scripts for N-sight and ConfigMgr; another tool is refused", async (t) => {
  const service = await startApp(t);
  await service.post("/clients", { name: "Haus" });
  await service.addPrinter({ client_id: "1", name: "Büro" });
  const expected = {
    "/printers/1": ["detect-buro-n-sight.ps1", "diagnose-buro-n-sight.ps1", "detect-buro-configmgr.ps1"],
    "/clients/1": ["detect-haus-n-sight.ps1", "diagnose-haus-n-sight.ps1", "detect-haus-configmgr.ps1"],
    "/drivers/1": ["detect-papyrus-100-pcl6-1-2-n-sight.ps1", "detect-papyrus-100-pcl6-1-2-configmgr.ps1"],
  };

  for (const [owner, names] of Object.entries(expected)) {
    const page = await textOf(service.fetch(`${owner}?tab=deploy`));
    const links = [...page.matchAll(/href="([^"]+\?for=[^"]+)"/g)].map(([, path = ""]) => path);
    const answers = await fetchAll(service, links);

    const said = answers.map(({ headers }) => headers.get("content-disposition") ?? "");
    const saidNames = said.map((text) => /filename="([^"]+)"/.exec(text)?.[1]);
    assert.deepEqual(saidNames, names);
    for (const answer of answers) assert.match(await answer.text(), /PLATEN_INNER/);
  }
  const ends = ["scripts/install?for=n-sight", "scripts/install", "read/detect?for=configmgr"];
  const refused = await service.fetch("/printers/1/scripts/detect?for=nothing");
  const [install, plain, read = ""] = await textsOf(
    service,
    ends.map((end) => `/printers/1/${end}`),
  );
  assert.equal(refused.status, 422);
  assert.match(
    await refused.text(),
    /“for=nothing” is not valid\. Use “for=n-sight” or “for=configmgr” or “for=script-installer”, or remove/,
  );
  assert.equal(install, plain, "other scripts ignore the tool");
  assert.match(textIn(read, "script-text"), /ConfigMgr reads exit code 0 without output/);
  assert.match(read, /href="\/printers\/1\/scripts\/detect\?for=configmgr"/);
});

test("the snippets of the guides and of the help parse as Windows PowerShell 5.1", async () => {
  const parse = await powershellParser();
  const ofGuides = Object.values(kinds).flatMap((facts) =>
    rmm.tools(facts).flatMap(({ snippet }) => (snippet === undefined ? [] : [snippet.text])),
  );
  const help = readdirSync("docs").filter((name) => name.endsWith(".md"));
  const ofHelp = help.flatMap((name) => [
    ...readFileSync(join("docs", name), "utf8").matchAll(/```powershell\n([\s\S]*?)```/g),
  ]);

  assert.ok(ofGuides.length > 0 && ofHelp.length > 0);
  for (const text of [...ofGuides, ...ofHelp.map(([, code = ""]) => code)])
    assert.equal(parse(text).hasError, false, text);
});

test("the guides' snippets return to each tool what it expects of every exit code", {
  skip: withoutPowerShell,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const guides = rmm
    .tools(kinds["over http"] ?? factsWith({}))
    .filter(({ snippet }) => snippet && !/\nuninstall|uninstall\.ps1/.test(snippet.text));
  for (const [i, { snippet }] of guides.entries())
    await writeFile(join(folder, `${i}.ps1`), snippet?.text ?? "");
  const runner = `function Expand-Archive { }
function Invoke-WebRequest { param($Uri, $OutFile, [switch]$UseBasicParsing) Set-Content -LiteralPath $OutFile -Value 'x' }
function powershell.exe { $global:LASTEXITCODE = $global:Code }
$Settings = @(foreach ($i in 0..${guides.length - 1}) {
  $ends = foreach ($code in 0, 3010, 1641, 1618, 1603) {
    $global:Code = $code
    $line = @(& "$PSScriptRoot/$i.ps1")[-1]
    "$LASTEXITCODE$(if ($line) { " $line" })"
  }
  $ends -join '; '
})`;
  const script = join(folder, "run.ps1");
  await writeFile(script, runner);

  const { value } = await simulatedWindows().request<{ value: string[] }>({ do: "evaluate", script });

  const zeroOrOne = "0; 0; 0; 1; 1";
  const inOutput = [0, 3010, 1641, 1618, 1603].map((code) => `${code} Exit code ${code}`).join("; ");
  assert.deepEqual(
    value.map((ends, i) => [guides[i]?.tool, ends]),
    [
      ["Level", zeroOrOne],
      ["N-able N-central", zeroOrOne],
      ["ConnectWise Automate", inOutput],
      ["ConnectWise RMM", inOutput],
      ["Kaseya VSA", inOutput],
    ],
  );
});
