import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { client, navigation } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { startGraph } from "../support/graph/server.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { program } from "../support/powershell/powershell.ts";
import { largeFile } from "./driver-files.ts";
import { machine, median, percentile, table, times } from "./figures.ts";
import { printerFields } from "./many-printers.ts";
import { folder, healthDuring, memory, startService, upload } from "./service.ts";

// Publishes a printer with a driver of 1.2 GB, and one with a small driver, with a real PowerShell into a simulated tenant
// on this machine. Measures the time and PowerShell's peak memory.

async function publish(
  tenant: Tenant,
  text: string,
): Promise<{ seconds: number; peak: number; size: number }> {
  const script = join(folder, "publish.ps1");
  writeFileSync(script, text);
  const parameters = [
    "-GraphUrl",
    tenant.graphUrl,
    "-LoginUrl",
    tenant.loginUrl,
    "-AccessToken",
    tenant.token,
  ];
  const started = performance.now();
  const child = spawn(program, ["-NoProfile", "-NonInteractive", "-File", script, ...parameters], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, memory(child).peak || 0);
  }, 50);
  const code = await new Promise((resolve) => child.on("exit", resolve));
  clearInterval(watch);
  if (code !== 0) throw new Error(`publishing ended with ${code}`);
  const seconds = (performance.now() - started) / 1000;
  const [app] = tenant.apps();
  return { seconds, peak, size: tenant.content(String(app?.id)).size };
}

async function main(): Promise<void> {
  const service = await startService();
  const ended: (() => unknown)[] = [];
  const graph = await startGraph({
    after: (end: () => unknown) => ended.push(end),
  } as unknown as TestContext);
  const { post, addDriver, fetch } = client(service.url);
  const drivers = { small: String(await addDriver()), large: await upload(service.url, largeFile()) };
  const rows = [["printer", "content", "publishing", "PowerShell’s peak"]];
  for (const [i, [name, driver_id]] of Object.entries(drivers).entries()) {
    await post("/printers", { name, address: `10.0.0.${i + 1}`, driver_id });
    const text = await (await fetch(`/printers/${i + 1}/publish`)).text();
    const { seconds, peak, size } = await publish(graph.tenant(name, { keepsContent: false }), text);
    rows.push([
      name,
      `${(size / 2 ** 20).toFixed(1)} MiB`,
      `${seconds.toFixed(1)} s`,
      `${peak.toFixed(0)} MiB`,
    ]);
  }
  console.log(`\n## Publishing to Intune\n\n${machine()}\n`);
  table(rows);
  service.process.kill();
  await new Promise((resolve) => service.process.once("exit", resolve));
  const restarted = await startService();
  await scripts(restarted.url, "/printers/2/publish", "The script of the large printer, after a restart", 3);
  for (const [id, isWhole] of [
    [1, false],
    [2, true],
  ] as const) {
    await fillClient(restarted.url, isWhole);
    const what = isWhole ? "with two drivers each in their packages" : "that share a driver";
    await scripts(restarted.url, `/clients/${id}/publish`, `The script for 500 printers ${what}`, 5);
  }
  restarted.process.kill();
  for (const end of ended) await end();
}

/** Creates a client with 500 printers. @param isWhole whether each has a second driver, so that no driver is a separate app */
async function fillClient(url: string, isWhole: boolean): Promise<void> {
  const { post, addDriver } = client(url);
  const model = isWhole ? "Whole" : "Shared";
  const drivers: Record<string, string> = {
    driver_id: String(await addDriver(driverZip({ models: [model] }))),
  };
  if (isWhole)
    drivers.arm64_driver_id = String(await addDriver(driverZip({ models: [model], decoration: "NTarm64" })));
  const answer = await post("/clients", { name: model }, navigation);
  const client_id = /\d+/.exec(answer.headers.get("location") ?? "")?.[0] ?? "";
  for (let i = 0; i < 500; i++) {
    const fields = { ...printerFields(i), driver_desc: "", client_id, ...drivers };
    const { status } = await post("/printers", fields, navigation);
    if (status !== 303) throw new Error(`a printer was answered with ${status}`);
  }
}

/** Measures a script's first and later requests, and the delay of other requests meanwhile. */
async function scripts(url: string, path: string, what: string, count: number): Promise<void> {
  let size = 0;
  const took: number[] = [];
  const health = await healthDuring(url, async () => {
    for (let i = 0; i < count; i++)
      took.push(
        ...(await times(1, async () => {
          const answer = await client(url).fetch(path);
          const text = await answer.text();
          if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
          size = text.length;
        })),
      );
  });
  const words = `${Math.round(size / 1024)} KB, first ${Math.round(took[0] ?? 0)} ms, then ${Math.round(median(took.slice(1)))} ms`;
  console.log(`\n${what}: ${words}; /health ${Math.round(percentile(health, 0.99))} ms at p99.`);
}

void main();
