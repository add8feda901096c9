import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { bundle, client } from "../support/app.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip, type ZipPart } from "../support/drivers/zip.ts";
import { connectRaw, exchange, postText, statusOf } from "../support/raw.ts";
import { machine, percentile, table } from "./figures.ts";

// Measures each class of attack: the service's memory, the memory of its inspections, and the delay of other requests.

const folder = mkdtempSync(join(tmpdir(), "platen-attacks-"));
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const multipart = "multipart/form-data; boundary=b";
const part = (head: string, body: string) =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;

interface Attack {
  readonly name: string;
  /** Runs before the measurement. */
  readonly prepare?: () => void;
  /** Returns statuses, or the fate of the connections. */
  readonly run: (url: string, printer: number) => Promise<unknown[]>;
}

function zipOf(...parts: ZipPart[]): Buffer {
  return makeZip([{ name: "papyrus.inf", bytes: printerInf() }, ...parts]);
}

/** An INF with languages whose folders and sub-folders all differ: every pair is a possible path. */
function manyLanguages(count: number): string {
  const strings = Array.from(
    { length: count },
    (_, i) => `[Strings.${(i + 1).toString(16)}]\r\nA=a${i}\r\nB=b${i}\r\n`,
  );
  return `${printerInf().replace('1="Disk"', '1="Disk",,,%A%').replace("papyrus.dll=1", "papyrus.dll=1,%B%")}\r\n[Strings]\r\nA=a\r\nB=b\r\n${strings.join("")}`;
}

const many = (count: number, make: (i: number) => ZipPart) =>
  Array.from({ length: count }, (_, i) => make(i));
const small = (i: number) => ({ name: `sub/file${i}.bin`, bytes: "x", method: 0 });

const uploads: Record<string, () => Buffer> = {
  "8,000 languages, 64 million paths": () => makeZip([{ name: "a.inf", bytes: manyLanguages(8000) }]),
  "`[` and 60,000 blanks": () => makeZip([{ name: "a.inf", bytes: `[${" ".repeat(60_000)}x` }]),
  "one model name of 15 MB": () => driverZip({ models: ["x".repeat(15_000_000)] }),
  "10,000 empty INFs": () => zipOf(...many(10_000, (i) => ({ name: `i/${i}.inf`, bytes: "" }))),
  "900 INFs": () =>
    zipOf(...many(900, (i) => ({ name: `i/${i}.inf`, bytes: printerInf({ models: [`M${i}`] }) }))),
  "100,000 models": () => driverZip({ models: Array.from({ length: 100_000 }, (_, i) => `Model ${i}`) }),
  "60,000 missing files": () =>
    driverZip({ files: Array.from({ length: 60_000 }, (_, i) => `f${i}.dll`) }).subarray(0),
  "60,000 entries": () => zipOf(...many(59_990, small)),
};

const attacks: Attack[] = [
  {
    name: "1,600 pipelined page requests on one connection",
    run: async (url) => {
      const raw = await connectRaw(url);
      raw.socket.write(get("/printers").repeat(1600));
      await raw.closed;
      return ["closed"];
    },
  },
  {
    name: "200 forms with a truncated part that is ignored",
    run: (url) => {
      const body = `${part('name="f"; filename="a.zip"', "x")}--b\r\nContent-Disposition: form-data; name="g"; filename="b"\r\n\r\ncut`;
      return inOrder(200, () => exchange(url, postText("/drivers/upload", multipart, body)).then(statusOf));
    },
  },
  {
    name: "40 forms of 250 KB of combining marks",
    run: (url) => {
      const body = `name=${encodeURIComponent("a\u0316\u0301".repeat(16_000)).slice(0, 250_000)}`;
      const type = "application/x-www-form-urlencoded";
      return inOrder(40, () => exchange(url, postText("/clients", type, body)).then(statusOf));
    },
  },
  {
    name: "20 concurrent forms with 20 MB of fields",
    run: (url) => {
      const body = Buffer.from(part('name="x"', "y".repeat(200_000)).repeat(100));
      return Promise.all(
        Array.from({ length: 20 }, () => exchange(url, postText("/clients", multipart, body)).then(statusOf)),
      );
    },
  },
  {
    name: "500 stalled downloads of a package",
    run: async (url, printer) => {
      const readers = await Promise.all(Array.from({ length: 500 }, () => connectRaw(url)));
      for (const { socket } of readers) socket.write(get(`/printers/${printer}/packages/rmm`));
      await Promise.all(readers.map((reader) => reader.until(/HTTP/).then(() => reader.socket.pause())));
      await new Promise((resolve) => setTimeout(resolve, 1000));
      for (const { socket } of readers) socket.destroy();
      return readers.map((reader) => statusOf(reader.text()));
    },
  },
  {
    name: "HEAD and ranges of a package of 60,000 entries",
    run: async (url) => {
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
  },
  ...Object.entries(uploads).map(([name, make]) => {
    let zip: Buffer = Buffer.alloc(0);
    return {
      name: `upload: ${name}`,
      prepare: () => {
        zip = make();
      },
      run: async (url: string) => {
        const { upload, fetch } = client(url);
        const answer = await upload("/drivers/upload", zip);
        const pages = [await answer.text(), await (await fetch("/drivers")).text()];
        const kilobytes = [zip.length, Math.max(...pages.map((page) => page.length))].map((n) =>
          Math.round(n / 1024),
        );
        return [`${answer.status} (${kilobytes[0]} KB sent, ${kilobytes[1]} KB page)`];
      },
    };
  }),
];

async function inOrder<T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let i = 0; i < count; i++) found.push(await work(i));
  return found;
}

/** `200 × 40`. */
function countedText(answers: readonly unknown[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(String(answer), (counts.get(String(answer)) ?? 0) + 1);
  return [...counts].map(([answer, count]) => (count === 1 ? answer : `${answer} × ${count}`)).join(", ");
}

function memory(pid: number | string, name: "VmHWM" | "VmRSS"): number {
  try {
    const line = readFileSync(`/proc/${pid}/status`, "utf8")
      .split("\n")
      .find((each) => each.startsWith(name));
    return line === undefined ? 0 : Number(line.replace(/\D/g, "")) / 1024;
  } catch {
    return 0;
  }
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
async function measureDuring(url: string, service: ChildProcess, work: () => Promise<unknown[]>) {
  const pid = service.pid ?? 0;
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  let inspection = 0;
  const probe = new Worker(probeScript, { eval: true, workerData: url });
  const timer = setInterval(() => {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean);
    for (const child of children) inspection = Math.max(inspection, memory(child, "VmHWM"));
  }, 10);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const started = performance.now();
  const answers = await work();
  const took = performance.now() - started;
  clearInterval(timer);
  probe.postMessage("stop");
  const [waits] = (await once(probe, "message")) as [number[]];
  return { answers, took, inspection, peak: memory(pid, "VmHWM"), waits };
}

async function main(): Promise<void> {
  const env = { PATH: process.env.PATH ?? "", PORT: "0", HOST: "127.0.0.1", DATA_DIR: join(folder, "data") };
  const service = spawn(process.execPath, [bundle], { env, stdio: ["ignore", "pipe", "ignore"] });
  const url = await new Promise<string>((resolve) => {
    service.stdout?.setEncoding("utf8").on("data", (text: string) => {
      resolve(`http://127.0.0.1:${/localhost:(\d+)/.exec(text)?.[1]}`);
    });
  });
  try {
    const { addDriver, addPrinter } = client(url);
    const bytes = Buffer.from(Array.from({ length: 16_000_000 }, (_, i) => (i * i * 31) >> 5));
    const driver_id = String(
      await addDriver(driverZip({ extra: [{ name: "large.bin", bytes, method: 0 }] })),
    );
    const printer = await addPrinter({ driver_id });
    for (let i = 0; i < 200; i++) await addPrinter({ name: `Printer ${i}`, driver_id });
    console.log(`\n## Attacks\n\n${machine()}\n`);
    const rows = [
      [
        "attack",
        "responses",
        "time",
        "service’s peak memory",
        "inspection’s peak memory",
        "/health p50, p99, longest",
      ],
    ];
    for (const attack of attacks) {
      attack.prepare?.();
      const { answers, took, inspection, peak, waits } = await measureDuring(url, service, () =>
        attack.run(url, printer),
      );
      const health = [0.5, 0.99, 1].map((part) => percentile(waits, part).toFixed(0)).join(", ");
      const child = inspection === 0 ? "" : `${inspection.toFixed(0)} MiB`;
      rows.push([
        attack.name,
        countedText(answers),
        `${took.toFixed(0)} ms`,
        `${peak.toFixed(0)} MiB`,
        child,
        `${health} ms`,
      ]);
    }
    table(rows);
  } finally {
    service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
