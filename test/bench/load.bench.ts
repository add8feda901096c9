// Measures what outside systems do to the service: attacks, 50 and 200 PCs directly and through proxies, and publishing.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Worker } from "node:worker_threads";
import { client, navigation } from "../support/app.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip, type ZipPart } from "../support/drivers/zip.ts";
import { startGraph } from "../support/graph/server.ts";
import { program, withoutPowerShell } from "../support/powershell/powershell.ts";
import { connectRaw, exchange, postText, statusOf } from "../support/raw.ts";
import {
  type Download,
  download,
  folder,
  healthDuring,
  median,
  memory,
  percentile,
  printerFields,
  report,
  type Service,
  sleep,
  startService,
  times,
  upload,
  waits,
  waitUntilIdle,
  writeDriver,
} from "./measure.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const multipart = "multipart/form-data; boundary=b";
const part = (head: string, body: string) =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
const many = (count: number, make: (i: number) => ZipPart) =>
  Array.from({ length: count }, (_, i) => make(i));
const small = (i: number) => ({ name: `sub/file${i}.bin`, bytes: "x", method: 0 });
const zipOf = (...parts: ZipPart[]) => makeZip([{ name: "papyrus.inf", bytes: printerInf() }, ...parts]);

/** An INF with languages whose folders and sub-folders all differ: every pair is a possible path. */
function manyLanguages(count: number): string {
  const strings = Array.from(
    { length: count },
    (_, i) => `[Strings.${(i + 1).toString(16)}]\r\nA=a${i}\r\nB=b${i}\r\n`,
  );
  const inf = printerInf()
    .replace('1="Disk"', '1="Disk",,,%A%')
    .replace("papyrus.dll=1", "papyrus.dll=1,%B%");
  return `${inf}\r\n[Strings]\r\nA=a\r\nB=b\r\n${strings.join("")}`;
}

const uploads: Record<string, () => Buffer> = {
  "8,000 languages, 64 million paths": () => makeZip([{ name: "a.inf", bytes: manyLanguages(8000) }]),
  "`[` and 60,000 blanks": () => makeZip([{ name: "a.inf", bytes: `[${" ".repeat(60_000)}x` }]),
  "one model name of 15 MB": () => driverZip({ models: ["x".repeat(15_000_000)] }),
  "10,000 empty INFs": () => zipOf(...many(10_000, (i) => ({ name: `i/${i}.inf`, bytes: "" }))),
  "900 INFs": () =>
    zipOf(...many(900, (i) => ({ name: `i/${i}.inf`, bytes: printerInf({ models: [`M${i}`] }) }))),
  "100,000 models": () => driverZip({ models: Array.from({ length: 100_000 }, (_, i) => `Model ${i}`) }),
  "60,000 missing files": () => driverZip({ files: Array.from({ length: 60_000 }, (_, i) => `f${i}.dll`) }),
  "60,000 entries": () => zipOf(...many(59_990, small)),
};

async function inOrder<T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let i = 0; i < count; i++) found.push(await work(i));
  return found;
}

/** By name, work that returns statuses, or the fate of the connections. */
const attacks: Record<string, (url: string, printer: number) => Promise<unknown[]>> = {
  "1,600 pipelined page requests on one connection": async (url) => {
    const raw = await connectRaw(url);
    raw.socket.write(get("/printers").repeat(1600));
    await raw.closed;
    return ["closed"];
  },
  "200 forms with a truncated part that is ignored": (url) => {
    const cut = '--b\r\nContent-Disposition: form-data; name="g"; filename="b"\r\n\r\ncut';
    const body = part('name="f"; filename="a.zip"', "x") + cut;
    return inOrder(200, () => exchange(url, postText("/drivers/upload", multipart, body)).then(statusOf));
  },
  "40 forms of 250 KB of combining marks": (url) => {
    const body = `name=${encodeURIComponent("a\u0316\u0301".repeat(16_000)).slice(0, 250_000)}`;
    const type = "application/x-www-form-urlencoded";
    return inOrder(40, () => exchange(url, postText("/clients", type, body)).then(statusOf));
  },
  "20 concurrent forms with 20 MB of fields": (url) => {
    const body = Buffer.from(part('name="x"', "y".repeat(200_000)).repeat(100));
    const send = () => exchange(url, postText("/clients", multipart, body)).then(statusOf);
    return Promise.all(Array.from({ length: 20 }, send));
  },
  "500 stalled downloads of a package": async (url, printer) => {
    const readers = await Promise.all(Array.from({ length: 500 }, () => connectRaw(url)));
    for (const { socket } of readers) socket.write(get(`/printers/${printer}/packages/rmm`));
    await Promise.all(readers.map((reader) => reader.until(/HTTP/).then(() => reader.socket.pause())));
    await sleep(1000);
    for (const { socket } of readers) socket.destroy();
    return readers.map((reader) => statusOf(reader.text()));
  },
  "HEAD and ranges of a package of 60,000 entries": async (url) => {
    const { addDriver, addPrinter, fetch } = client(url);
    const driver_id = String(await addDriver(driverZip({ extra: many(59_990, small) })));
    const id = await addPrinter({ name: "Large", driver_id });
    return inOrder(30, async (i) => {
      const path = `/printers/${id}/packages/${i % 2 === 0 ? "rmm" : "mdm"}`;
      const head = await fetch(path, { method: "HEAD" });
      const range = await fetch(path, { headers: { range: "bytes=100-199" } });
      await range.arrayBuffer();
      return `${head.status} ${range.status}`;
    });
  },
};

async function attackWith(zip: Buffer, url: string): Promise<string[]> {
  const { upload, fetch } = client(url);
  const answer = await upload("/drivers/upload", zip);
  const pages = [await answer.text(), await (await fetch("/drivers")).text()];
  const [sent, page] = [zip.length, Math.max(...pages.map(({ length }) => length))].map((n) =>
    Math.round(n / 1024),
  );
  return [`${answer.status} (${sent} KB sent, ${page} KB page)`];
}

/** `200 × 40`. */
function countedText(answers: readonly unknown[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(String(answer), (counts.get(String(answer)) ?? 0) + 1);
  return [...counts].map(([answer, count]) => (count === 1 ? answer : `${answer} × ${count}`)).join(", ");
}

/** Requests /health continuously on another thread, so that the cost of sending the attack does not count. */
const probeScript = `
  const { parentPort, workerData } = require("node:worker_threads");
  let isOver = false;
  parentPort.on("message", () => { isOver = true; });
  (async () => {
    const waits = [];
    while (!isOver) {
      const started = performance.now();
      await (await fetch(workerData + "/health")).text();
      waits.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    parentPort.postMessage(waits);
    parentPort.close();
  })();`;

/** Runs an attack, and measures /health and the service's processes meanwhile. */
async function measureAttack(
  { url, process: child }: Service,
  work: () => Promise<unknown[]>,
): Promise<string[]> {
  writeFileSync(`/proc/${child.pid}/clear_refs`, "5");
  let inspection = 0;
  const probe = new Worker(probeScript, { eval: true, workerData: url });
  const timer = setInterval(() => {
    const ids = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")
      .split(" ")
      .filter(Boolean);
    for (const id of ids) inspection = Math.max(inspection, memory({ pid: Number(id) }).peak);
  }, 10);
  await sleep(300);
  let answers: unknown[] = [];
  const [took = 0] = await times(1, async () => {
    answers = await work();
  });
  clearInterval(timer);
  probe.postMessage("stop");
  const [found] = (await once(probe, "message")) as [number[]];
  const peaks = [memory(child).peak, inspection].map((mib) => (mib === 0 ? "" : `${mib.toFixed(0)} MiB`));
  return [countedText(answers), `${took.toFixed(0)} ms`, ...peaks, waits(found)];
}

async function measureAttacks(): Promise<void> {
  const service = await startService(undefined, "attacks");
  const { addDriver, addPrinter } = client(service.url);
  const bytes = Buffer.from(Array.from({ length: 16_000_000 }, (_, i) => (i * i * 31) >> 5));
  const driver_id = String(await addDriver(driverZip({ extra: [{ name: "large.bin", bytes, method: 0 }] })));
  const printer = await addPrinter({ driver_id });
  for (let i = 0; i < 200; i++) await addPrinter({ name: `Printer ${i}`, driver_id });
  const rows = [
    ["attack", "responses", "time", "service’s peak", "inspection’s peak", "/health p50, p99, longest"],
  ];
  for (const [name, run] of Object.entries(attacks))
    rows.push([name, ...(await measureAttack(service, () => run(service.url, printer)))]);
  for (const [name, make] of Object.entries(uploads)) {
    const zip = make();
    rows.push([`upload: ${name}`, ...(await measureAttack(service, () => attackWith(zip, service.url)))]);
  }
  await service.stop();
  report("Attacks", rows);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

/** Starts a proxy in front of Platen with its file in deploy/, on a port of this machine and without https. */
async function startProxy(
  name: "nginx" | "caddy",
  platen: string,
): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort();
  const place = join(folder, name);
  mkdirSync(place);
  const config = join(place, "config");
  const own = readFileSync(name === "nginx" ? "deploy/nginx.conf" : "deploy/Caddyfile", "utf8");
  const args = name === "nginx" ? ["-c", config] : ["run", "--config", config, "--adapter", "caddyfile"];
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${place}/${kind};`,
  );
  // As root, nginx would run as another user, who cannot open the folder.
  const user = process.getuid?.() === 0 ? "user root; " : "";
  const texts = {
    nginx: `${user}daemon off; pid ${place}/pid; error_log stderr; worker_processes 1; worker_rlimit_nofile 4096;
events { worker_connections 2048; }
http { access_log off; sendfile on; ${paths.join(" ")}
${own
  .replaceAll("127.0.0.1:8080", platen)
  .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
  .replace(/^ *ssl_certificate.*\n/gm, "")
  .replace("/var/cache/nginx/platen", `${place}/cache`)} }`,
    caddy: `{\n\tadmin off\n}\n${own.replace("127.0.0.1:8080", platen).replace(/^platen\.example/m, `http://127.0.0.1:${port}`)}`,
  };
  writeFileSync(config, texts[name]);
  const child = spawn(name, args, { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  for (let i = 0; i < 100 && (await download(`${url}/health`).catch(() => undefined)) === undefined; i++)
    await sleep(100);
  return { url, child };
}

async function measurePcs(): Promise<void> {
  const service = await startService(undefined, "pcs");
  const id = await client(service.url).addPrinter({
    driver_id: await upload(service.url, writeDriver("usual")),
  });
  const path = `/printers/${id}/packages/mdm`;
  const { bytes: size } = await download(service.url + path);
  await waitUntilIdle(service.process);
  const rows = [
    ["PCs", "way", "in all", "MB/s", "slowest ÷ fastest PC", "/health", "peak memory", "from the cache"],
  ];
  const ways = new Map([["direct", service.url]]);
  const proxies: ChildProcess[] = [];
  for (const name of ["nginx", "caddy"] as const) {
    if (spawnSync(name, ["version"], { stdio: "ignore" }).error !== undefined) continue;
    const { url, child } = await startProxy(name, new URL(service.url).host);
    proxies.push(child);
    ways.set(name, url);
  }
  for (const count of [50, 200])
    for (const [name, url] of ways) {
      let all: Download[] = [];
      let took = 0;
      const health = await healthDuring(service.url, async () => {
        [took = 0] = await times(1, async () => {
          all = await Promise.all(Array.from({ length: count }, () => download(url + path)));
        });
      });
      if (all.some(({ bytes }) => bytes !== size)) throw new Error(`${name}: a package was cut off`);
      const ms = all.map((one) => one.ms);
      const hits = all.filter(({ cache }) => /HIT|REVALIDATED|STALE|UPDATING/.test(cache)).length;
      const rate = ((count * size) / 1000 / took).toFixed(0);
      const spread = (Math.max(...ms) / Math.min(...ms)).toFixed(1);
      const peak = `${memory(service.process).peak.toFixed(0)} MiB`;
      rows.push([
        String(count),
        name,
        `${(took / 1000).toFixed(1)} s`,
        rate,
        spread,
        waits(health),
        peak,
        String(hits),
      ]);
    }
  for (const child of proxies) child.kill();
  await service.stop();
  report("Many PCs, one package of 147 MiB, clients and proxies on the same machine", rows);
}

/** Publishes with a real PowerShell into a simulated tenant on this machine. */
async function measurePublishing(): Promise<void> {
  const service = await startService(undefined, "publish");
  const ended: (() => unknown)[] = [];
  const graph = await startGraph({
    after: (end: () => unknown) => ended.push(end),
  } as unknown as TestContext);
  const { post, addDriver, fetch } = client(service.url);
  const drivers = {
    small: String(await addDriver()),
    large: await upload(service.url, writeDriver("large")),
  };
  const rows = [["printer", "publishing", "PowerShell’s peak"]];
  for (const [i, [name, driver_id]] of Object.entries(drivers).entries()) {
    await post("/printers", { name, address: `10.0.0.${i + 1}`, driver_id });
    const tenant = graph.tenant(name, { keepsContent: false });
    const script = join(folder, "publish.ps1");
    writeFileSync(script, await (await fetch(`/printers/${i + 1}/publish`)).text());
    const known = ["-GraphUrl", tenant.graphUrl, "-LoginUrl", tenant.loginUrl, "-AccessToken", tenant.token];
    const args = ["-NoProfile", "-NonInteractive", "-File", script, ...known];
    let peak = 0;
    const [took = 0] = await times(1, async () => {
      const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
      const watch = setInterval(() => {
        peak = Math.max(peak, memory(child).peak);
      }, 50);
      const [code] = await once(child, "exit");
      clearInterval(watch);
      if (code !== 0) throw new Error(`publishing ended with ${code}`);
    });
    rows.push([name, `${(took / 1000).toFixed(1)} s`, `${peak.toFixed(0)} MiB`]);
  }
  for (const end of ended) await end();
  await post("/clients", { name: "Large client" }, navigation);
  for (let i = 0; i < 500; i++)
    await post(
      "/printers",
      { ...printerFields(i), driver_desc: "", client_id: "1", driver_id: "1" },
      navigation,
    );
  let size = 0;
  const took: number[] = [];
  const health = await healthDuring(service.url, async () => {
    const request = async () => {
      size = (await (await fetch("/clients/1/publish")).text()).length;
    };
    took.push(...(await times(5, request)));
  });
  const script = `${(size / 1024).toFixed(0)} KB, first ${took[0]?.toFixed(0)} ms, then ${median(took.slice(1)).toFixed(0)} ms`;
  rows.push(["the script for 500 printers", script, `/health p99 ${percentile(health, 0.99).toFixed(0)} ms`]);
  await service.stop();
  report("Publishing to Intune", rows);
}

async function main(): Promise<void> {
  await measureAttacks();
  await measurePcs();
  if (withoutPowerShell === false) await measurePublishing();
  process.exit(0);
}

void main();
