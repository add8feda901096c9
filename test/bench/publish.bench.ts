import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { client } from "../support/app.ts";
import { startGraph } from "../support/graph/server.ts";
import { program } from "../support/powershell.ts";
import { largeFile } from "./driver-files.ts";
import { machine, table } from "./figures.ts";
import { folder, memory, startService, upload } from "./service.ts";

// Publishing a driver of 1.2 GB with a real PowerShell into a simulated tenant, all on this machine: how long it takes and
// how much memory PowerShell has at its highest, beside the same with a small driver's printer.

const service = await startService();
const ended: (() => unknown)[] = [];
const graph = await startGraph({ after: (end: () => unknown) => ended.push(end) } as unknown as TestContext);
const { post, addDriver, fetch } = client(service.url);

async function publish(path: string, name: string): Promise<{ seconds: number; peak: number; size: number }> {
  const tenant = graph.tenant(name, { keepsContent: false });
  const script = join(folder, `${name}.ps1`);
  writeFileSync(script, await (await fetch(path)).text());
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
  if (code !== 0) throw new Error(`publishing ${path} ended with ${code}`);
  const seconds = (performance.now() - started) / 1000;
  const [app] = tenant.apps();
  return { seconds, peak, size: tenant.content(String(app?.id)).size };
}

const small = await addDriver();
const large = await upload(service.url, largeFile());
await post("/printers", { name: "Small", address: "10.0.0.1", driver_id: String(small) });
await post("/printers", { name: "Large", address: "10.0.0.2", driver_id: large });
const rows = [["printer", "content", "publishing", "PowerShell's peak"]];
for (const [name, path] of [
  ["small", "/printers/1/publish"],
  ["large", "/printers/2/publish"],
] as const) {
  const { seconds, peak, size } = await publish(path, name);
  rows.push([
    name,
    `${(size / 2 ** 20).toFixed(1)} MiB`,
    `${seconds.toFixed(1)} s`,
    `${peak.toFixed(0)} MiB`,
  ]);
}
console.log(machine());
table(rows);
service.process.kill();
for (const end of ended) await end();
