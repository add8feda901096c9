// What the benchmarks share: the service in its own process, figures, and drivers of real size.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { type Agent, get } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../support/app.ts";
import { printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip, type ZipPart } from "../support/drivers/zip.ts";

export const folder = mkdtempSync(join(tmpdir(), "platen-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
export const mebi = 2 ** 20;

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** Runs work several times. @returns milliseconds for each run */
export async function times(count: number, work: (i: number) => unknown): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    await work(i);
    found.push(performance.now() - started);
  }
  return found;
}

/** Prints a heading with the machine, and a Markdown table. */
export function report(title: string, rows: readonly (readonly string[])[]): void {
  const [head = [], ...body] = rows;
  console.log(`\n## ${title}\n\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}\n`);
  for (const row of [head, head.map(() => "---"), ...body]) console.log(`| ${row.join(" | ")} |`);
}

export interface Service {
  readonly url: string;
  readonly process: ChildProcess;
  /** What it has printed so far. */
  readonly lines: string[];
  stop(): Promise<void>;
}

/** Starts the bundled service in its own process. @param script the bundle of another version @param name of its data folder */
export async function startService(
  script = bundle,
  name = "data",
  settings: Record<string, string> = {},
): Promise<Service> {
  const fixed = { PATH: process.env.PATH ?? "", PORT: "0", HOST: "127.0.0.1", UPLOAD_LIMIT_MB: "4000" };
  // One arena, as in the image.
  const env = { ...fixed, DATA_DIR: join(folder, name), MALLOC_ARENA_MAX: "1", ...settings };
  const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "pipe", "pipe"] });
  process.on("exit", () => child.kill("SIGKILL"));
  const lines: string[] = [];
  const url = await new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        lines.push(...text.split("\n").filter(Boolean));
        const port = /localhost:(\d+)/.exec(text)?.[1];
        if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
      });
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = () => {
    child.kill();
    return ended;
  };
  return { url, process: child, lines, stop };
}

/** What a download returned. */
export interface Download {
  readonly status: number;
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly ms: number;
  readonly cache: string;
}

/** Downloads and discards, as one PC does; as a browser does with an agent. */
export function download(url: string, agent: Agent | false = false): Promise<Download> {
  const headers = agent === false ? {} : { Accept: "text/html", "Accept-Encoding": "gzip" };
  return new Promise((resolve, reject) => {
    const started = performance.now();
    get(url, { agent, headers }, (response) => {
      let bytes = 0;
      let firstByteMs = 0;
      response.on("data", (chunk: Buffer) => {
        if (bytes === 0) firstByteMs = performance.now() - started;
        bytes += chunk.length;
      });
      const cache = String(response.headers["x-cache"] ?? "");
      response.on("end", () => {
        const ms = performance.now() - started;
        resolve({ status: response.statusCode ?? 0, bytes, firstByteMs, ms, cache });
      });
      response.on("error", reject);
    }).on("error", reject);
  });
}

/** Uploads a driver with curl. @returns its id */
export async function upload(url: string, path: string): Promise<string> {
  const args = ["-s", "-F", `file=@${path}`, `${url}/drivers/upload`];
  const out = spawn("curl", args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of out.stdout) text += chunk;
  return /href="\/drivers\/(\d+)">Open driver/.exec(text)?.[1] ?? "";
}

/** A process's resident memory now and at its peak, in MiB; zero once it has ended. */
export function memory({ pid }: Pick<ChildProcess, "pid">): { now: number; peak: number } {
  let status = "";
  try {
    status = readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    // It has ended.
  }
  const value = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { now: value("VmRSS"), peak: value("VmHWM") };
}

/** The processor time of all threads of a process so far, in milliseconds. */
export function processorMs({ pid }: ChildProcess): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // The thread has just ended.
      return 0;
    }
  });
  return threads.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** Waits until a process has used no processor time for half a second, so that its background work is done. */
export async function waitUntilIdle(child: ChildProcess): Promise<void> {
  for (let before = -1e6, now = processorMs(child); now - before > 5; now = processorMs(child)) {
    before = now;
    await sleep(500);
  }
}

/** Requests /health repeatedly while work runs. @returns milliseconds for each response */
export async function healthDuring(url: string, work: () => Promise<unknown>): Promise<number[]> {
  const latencies: number[] = [];
  let isDone = false;
  const watch = (async () => {
    while (!isDone) {
      latencies.push((await download(`${url}/health`)).ms);
      await sleep(5);
    }
  })();
  await work();
  isDone = true;
  await watch;
  return latencies;
}

/** `3, 20, 41 ms`: the median, the 99th percentile and the longest. */
export function waits(latencies: readonly number[]): string {
  return `${[0.5, 0.99, 1].map((part) => percentile(latencies, part).toFixed(0)).join(", ")} ms`;
}

/** Writes a driver of about 148 MB packed and 262 MB unpacked, in 320 files, or of 1.2 GB in 40 uncompressed ones. */
export function writeDriver(size: "usual" | "large"): string {
  const [count, length] = size === "usual" ? [320, 820_000] : [40, 30 * mebi];
  const parts: ZipPart[] = [
    { name: "papyrus.inf", bytes: printerInf() },
    { name: "papyrus.cat", bytes: randomBytes(20_000) },
    { name: "papyrus.dll", bytes: "x" },
  ];
  const plain = randomBytes(length);
  for (let i = 0; i < count; i++) {
    const bytes = Buffer.alloc(length, "The quick brown fox. ");
    if (size === "usual") for (let at = 0; at < length; at += 64) randomBytes(35).copy(bytes, at);
    parts.push({ name: `files/f${i}.dll`, ...(size === "usual" ? { bytes } : { bytes: plain, method: 0 }) });
  }
  return writeFile(`${size}.zip`, makeZip(parts));
}

/** Writes a file of any size, in pieces that the system accepts. @returns its path */
export function writeFile(name: string, bytes: Buffer): string {
  const path = join(folder, name);
  const file = openSync(path, "w");
  for (let at = 0; at < bytes.length; )
    at += writeSync(file, bytes, at, Math.min(64 * mebi, bytes.length - at));
  return path;
}

export function printerFields(i: number): Record<string, string> {
  return {
    name: `Office “${i}” floor ${i % 7}`,
    client_id: String((i % 40) + 1),
    driver_id: String((i % 12) + 1),
    driver_desc: i % 3 === 0 ? `Papyrus ${(i % 12) + 1}00 PS` : "",
    address: `10.0.${i >> 8}.${i & 255}`,
    location: `Building ${i % 5}, floor ${i % 7}`,
    duplex: "long_edge",
    replaces: `Old ${i}\nOlder ${i}`,
  };
}

/** What a process used while idle. */
export interface Sample {
  readonly minute: number;
  /** Resident memory in MiB. */
  readonly rss: number;
  readonly descriptors: number;
  /** Files and sockets below DATA_DIR and the temporary folder. */
  readonly files: number;
}

/** Differences that do not count as growth. */
const slack: Record<Exclude<keyof Sample, "minute">, number> = { rss: 8, descriptors: 3, files: 3 };

/**
 * Reports what grew after the warm-up, which is the first third of the samples: the median of the last
 * third is above that of the middle third. Single peaks and dips do not count.
 */
export function growth(samples: readonly Sample[]): string[] {
  const third = Math.floor(samples.length / 3);
  if (third < 3) return [`${samples.length} samples are too few to tell`];
  return (Object.keys(slack) as (keyof typeof slack)[]).flatMap((what) => {
    const values = samples.slice(third).map((sample) => sample[what]);
    const difference = median(values.slice(-third)) - median(values.slice(0, third));
    return difference <= slack[what] ? [] : [`${what} grew by ${difference.toFixed(1)}`];
  });
}
