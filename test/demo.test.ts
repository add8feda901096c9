import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { allPages } from "../demo/pages.ts";
import { type Demo, startDemo } from "../demo/serve.ts";
import { bundle, temporaryFolder } from "./support/app.ts";
import { deepTest, isDeep } from "./support/depth.ts";
import { until } from "./support/until.ts";

const now = () => Date.UTC(2026, 10, 21, 14, 5);
const settings = { environment: { PORT: "0", HOST: "127.0.0.1" }, now };

if (isDeep)
  describe("the demo", () => {
    let demo: Demo;
    before(async () => {
      demo = await startDemo(settings);
      await demo.app.archives.finished();
    });
    after(() => demo.stop());

    test("has eight clients, 120 printers, ten drivers and every kind of finding", async () => {
      const { printers, drivers } = await demo.app.overview.read();
      const dashboard = await (await fetch(demo.url)).text();

      const kinds = (rows: typeof printers | typeof drivers) =>
        [...new Set(rows.flatMap(({ findings }) => findings.map(({ kind }) => kind)))].sort();
      const makers = drivers.map(({ listed }) => `${listed?.provider} ${listed?.driverVer?.version}`);
      assert.equal(demo.app.store.clients.count(), 8);
      assert.equal(printers.length, 120);
      assert.equal(drivers.length, 10);
      assert.deepEqual(kinds(drivers), ["archive", "missing-files", "unchosen-model", "unsigned"]);
      assert.deepEqual(kinds(printers), [
        "archive",
        "missing-files",
        "no-driver",
        "same-address",
        "same-name",
        "unchosen-model",
        "unsigned",
      ]);
      assert.ok(printers.filter(({ state }) => state === "ready").length > 80);
      assert.match(dashboard, /changed since/);
      assert.ok(makers.includes("Papyrus 4.2.0.118") && makers.includes("Papyrus 4.5.1.206"));
      assert.ok(drivers.some(({ listed }) => listed?.driverModel === "v4"));
      assert.ok(drivers.some(({ listed }) => listed?.architectures.join() === "amd64,arm64"));
      assert.ok(drivers.some(({ printer_count }) => printer_count === 0));
    });

    test("every page can be read, and all but the audit log are the same in another demo", async (t) => {
      const other = await startDemo(settings);
      t.after(other.stop);
      await other.app.archives.finished();
      const textOf = async (url: string) => {
        const answer = await fetch(url);
        return `${answer.status} ${(await answer.text()).replaceAll(new URL(url).host, "")}`;
      };

      const different: string[] = [];
      for (const [name, path] of Object.entries(allPages(demo.app))) {
        const text = await textOf(demo.url + path);
        const otherText = await textOf(other.url + path);
        // The log also has an entry for each download that took a while, and digests.
        if (text !== otherText && name !== "audit")
          different.push(`${name}: ${firstDifference(text, otherText)}`);
        if (!/^200 /.test(text) && name !== "nothing") different.push(`${name}: ${text.slice(0, 60)}`);
      }

      assert.deepEqual(different, []);
    });
  });

/** Both texts around their first difference. */
function firstDifference(one: string, other: string): string {
  const at = [...one].findIndex((_, index) => one[index] !== other[index]);
  return [one, other].map((text) => text.slice(Math.max(0, at - 200), at + 300)).join("\n instead of ");
}

deepTest(
  "Ctrl+C ends the demo, also while its records are created, and leaves no folder behind",
  async (t) => {
    const folder = await temporaryFolder(t);
    const env = { ...process.env, TMPDIR: folder, PORT: "0", HOST: "127.0.0.1" };
    let page = "";
    const codes: unknown[] = [];

    for (const isReady of [false, true]) {
      const demo = spawn(process.execPath, [".build/demo/main.cjs"], { env, stdio: "pipe" });
      t.after(() => demo.kill("SIGKILL"));
      let printed = "";
      demo.stdout.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
      await until(() => readdirSync(folder).length === 1 && (!isReady || printed.endsWith("its data)\n")));
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
      if (isReady) page = await (await fetch(`${url}/clients`)).text();
      demo.kill("SIGINT");
      codes.push(await new Promise((resolve) => demo.once("exit", resolve)));
      assert.deepEqual(readdirSync(folder), []);
    }

    assert.match(page, /Menuiserie Delorme/);
    assert.equal(codes[1], 0);
  },
);

test("the bundle contains nothing of the demo", () => {
  const shipped = readFileSync(bundle, "utf8");

  assert.ok(existsSync(".build/demo/main.cjs"));
  assert.doesNotMatch(shipped, /Menuiserie|Quillmark|platen-demo/);
});

test("the screenshots in README and docs exist in light and dark, and are small", () => {
  const pages = [
    "README.md",
    ...readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? `docs/${name}` : [])),
  ];
  const text = pages.map((page) => readFileSync(page, "utf8")).join("\n");
  const screenshots = (text.match(/screenshots\/[\w-]+\.png/g) ?? []).map((path) => `docs/${path}`);
  const sizeOf = (path: string) => {
    const bytes = readFileSync(path);
    return `${bytes.readUInt32BE(16)} × ${bytes.readUInt32BE(20)}, ${bytes.length <= 100 << 10 ? "small" : bytes.length}`;
  };

  const sizes = screenshots.map(sizeOf);

  const pairs = screenshots.map((path) => path.replace("-dark", "-light"));
  assert.equal(screenshots.length, 10);
  assert.deepEqual([...new Set(sizes)], ["1440 × 900, small"]);
  assert.equal(new Set(pairs).size, 5);
});
