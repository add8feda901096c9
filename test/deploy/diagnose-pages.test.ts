import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { unpackers } from "../support/drivers/foreign.ts";
import { readScriptBodies } from "../support/powershell/powershell-syntax.ts";

test("the pages of a printer and of its client offer the diagnosis to download, read and paste", async (t) => {
  const { fetch, addPrinter, post, url } = await startApp(t);
  await post("/clients", { name: "Haus" });
  await addPrinter({ client_id: "1", name: "Büro" });
  for (const [owner, name] of [
    ["/printers/1", "diagnose-buro.ps1"],
    ["/clients/1", "diagnose-haus.ps1"],
  ] as const) {
    const page = await (await fetch(owner)).text();

    const served = await fetch(`${owner}/scripts/diagnose`);
    const read = await fetch(`${owner}/read/diagnose`);

    const text = await served.text();
    assert.ok(page.includes(`href="${owner}/scripts/diagnose"`));
    assert.ok(page.includes(`href="${owner}/read/diagnose"`));
    assert.ok(page.includes(`${url}${owner}/scripts/diagnose`), "one line to paste names it");
    assert.ok(page.includes(`-File .\\${name}`));
    assert.ok(served.headers.get("content-disposition")?.includes(`"${name}"`));
    assert.match(text, /^[\t\r\n\x20-\x7e]+$/, "ASCII: an RMM may store it in another encoding");
    assert.ok(text.includes("'B', [char]0x00FC, 'ro'"), "the name is written in ASCII");
    assert.doesNotMatch(
      text,
      /https?:\/\/127/,
      "it downloads nothing, and contains no address of the service",
    );
    assert.equal(read.status, 200);
  }
});

test("packages contain no diagnosis", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  const id = await addPrinter({ name: "Office" });

  const zip = Buffer.from(await (await fetch(`/printers/${id}/packages/rmm`)).arrayBuffer());

  const names = Object.keys(unpackers.fflate(zip)).filter((name) => name.endsWith(".ps1"));
  assert.deepEqual(names.sort(), ["detect.ps1", "install.ps1", "uninstall.ps1"]);
});

/** The rows of the page's tables, as level and check. A row without a check continues the check of the row before. */
function explainedChecks(page: string): Set<string> {
  const found = new Set<string>();
  let check = "";
  for (const [, name = "", levels = ""] of page.matchAll(/^\| (?:`([a-z-]+)`)? *\| (.*?) +\|/gm)) {
    check = name || check;
    for (const [, level] of levels.matchAll(/`(\w+)`/g)) found.add(`${level} ${check}`);
  }
  return found;
}

test("docs/diagnosis.md explains every check, and nothing else", () => {
  const scripts = [...readScriptBodies()]
    .filter(([name]) => name.startsWith("diagnose"))
    .map(([, text]) => text);
  const text = scripts.join("\n");
  const rows = explainedChecks(readFileSync("docs/diagnosis.md", "utf8"));

  const checks = new Set(
    [...text.matchAll(/(?:Add-Finding (?:'\w+'|\$\w+)|Invoke-Check) '([a-z-]+)'/g)].map(([, check]) => check),
  );
  for (const check of ["queue", "driver", "port", "marker"]) checks.add(check);
  const wrong = [...text.matchAll(/Add-Finding '(bad|warn)' '([a-z-]+)'/g)].map(
    ([, level, check]) => `${level} ${check}`,
  );

  assert.ok(wrong.length > 10);
  assert.deepEqual([...new Set([...rows].map((row) => row.split(" ")[1]))].sort(), [...checks].sort());
  assert.deepEqual(
    wrong.filter((pair) => !rows.has(pair)),
    [],
  );
});
