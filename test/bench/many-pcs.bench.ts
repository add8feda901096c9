// 50 and 200 PCs that fetch one package of 150 MB: direct, through nginx with its cache, and through Caddy. The proxies run
// with the files in deploy/, on ports of this machine and without https.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { client } from "../support/app.ts";
import { driverFile } from "./driver-files.ts";
import { machine, percentile, table } from "./figures.ts";
import { download, folder, healthDuring, memory, startService, upload, waitUntilIdle } from "./service.ts";

const mebi = 2 ** 20;

interface Way {
  readonly name: string;
  readonly url: string;
}

interface Fetched {
  readonly seconds: number;
  readonly bytes: number;
  readonly cache: string;
}

/** Fetches a package as one PC. */
function fetchAsPc(url: string): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    get(url, { agent: false }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on("end", () =>
        resolve({
          seconds: (performance.now() - started) / 1000,
          bytes,
          cache: String(response.headers["x-cache"] ?? ""),
        }),
      );
      response.on("error", reject);
    }).on("error", reject);
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

const isInstalled = (program: string) =>
  spawnSync(program, ["version"], { stdio: "ignore" }).error === undefined;
const running: ChildProcess[] = [];
process.on("exit", () => {
  for (const child of running) child.kill();
});

async function startNginx(platen: URL): Promise<Way> {
  const port = await freePort();
  const place = join(folder, "nginx");
  mkdirSync(place);
  const own = readFileSync("deploy/nginx.conf", "utf8")
    .replaceAll("127.0.0.1:8080", platen.host)
    .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
    .replace(/^ *ssl_certificate.*\n/gm, "")
    .replace("/var/cache/nginx/platen", join(place, "cache"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${join(place, kind)};`,
  );
  const config = join(place, "nginx.conf");
  // As root, nginx would run as another user, who cannot open the folder.
  const user = process.getuid?.() === 0 ? "user root; " : "";
  writeFileSync(
    config,
    `${user}daemon off; pid ${join(place, "pid")}; error_log stderr; worker_processes 1; worker_rlimit_nofile 4096;
events { worker_connections 2048; }
http { access_log off; sendfile on; ${temporary.join(" ")}
${own} }`,
  );
  running.push(spawn("nginx", ["-c", config], { stdio: ["ignore", "inherit", "inherit"] }));
  return { name: "nginx", url: `http://127.0.0.1:${port}` };
}

async function startCaddy(platen: URL): Promise<Way> {
  const port = await freePort();
  const config = join(folder, "Caddyfile");
  const own = readFileSync("deploy/Caddyfile", "utf8")
    .replace("127.0.0.1:8080", platen.host)
    .replace(/^platen\.example/m, `http://127.0.0.1:${port}`);
  writeFileSync(config, `{\n\tadmin off\n}\n${own}`);
  running.push(spawn("caddy", ["run", "--config", config, "--adapter", "caddyfile"], { stdio: "ignore" }));
  return { name: "Caddy", url: `http://127.0.0.1:${port}` };
}

async function untilAnswers(url: string): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const found = await download(`${url}/health`).catch(() => 0);
    if (found > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} does not answer`);
}

async function main(): Promise<void> {
  const service = await startService();
  running.push(service.process);
  const requests = client(service.url);
  const id = await requests.addPrinter({ driver_id: await upload(service.url, driverFile()) });
  const path = `/printers/${id}/packages/mdm`;
  const size = await download(service.url + path);
  await waitUntilIdle(service.process);
  const rows = [
    [
      "PCs",
      "way",
      "in all",
      "MB/s",
      "slowest ÷ fastest PC",
      "/health p99",
      "Platen’s memory",
      "from the cache",
    ],
  ];
  const ways = [{ name: "direct", url: service.url }];
  if (isInstalled("nginx")) ways.push(await startNginx(new URL(service.url)));
  if (isInstalled("caddy")) ways.push(await startCaddy(new URL(service.url)));
  for (const count of [50, 200]) {
    for (const { name, url } of ways) {
      await untilAnswers(url);
      let fetched: Fetched[] = [];
      const started = performance.now();
      const health = await healthDuring(service.url, async () => {
        fetched = await Promise.all(Array.from({ length: count }, () => fetchAsPc(url + path)));
      });
      const seconds = (performance.now() - started) / 1000;
      if (fetched.some(({ bytes }) => bytes !== size)) throw new Error(`${name}: a package was cut off`);
      const times = fetched.map((one) => one.seconds);
      const hits = fetched.filter(({ cache }) => /HIT|REVALIDATED|STALE|UPDATING/.test(cache)).length;
      rows.push([
        String(count),
        name,
        `${seconds.toFixed(1)} s`,
        ((count * size) / 1e6 / seconds).toFixed(0),
        (Math.max(...times) / Math.min(...times)).toFixed(1),
        `${percentile(health, 0.99).toFixed(0)} ms`,
        `${memory(service.process).peak.toFixed(0)} MiB`,
        name === "nginx" ? `${((100 * hits) / count).toFixed(0)} %` : "–",
      ]);
    }
  }
  console.log(
    `\n## Many PCs, ${(size / mebi).toFixed(0)} MiB each (${machine()}; clients on the same machine)\n`,
  );
  table(rows);
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
