import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../support/app.ts";
import { times } from "./figures.ts";

export const folder = mkdtempSync(join(tmpdir(), "platen-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const mebi = 2 ** 20;

export function writeWhole(name: string, bytes: Buffer): string {
  const path = join(folder, name);
  const file = openSync(path, "w");
  for (let at = 0; at < bytes.length; )
    at += writeSync(file, bytes, at, Math.min(64 * mebi, bytes.length - at));
  return path;
}

/**
 * Starts the bundled service in its own process.
 * @param script the bundle of another version
 */
export async function startService(
  script = bundle,
  name = "data",
): Promise<{ url: string; process: ChildProcess }> {
  const env = {
    PATH: process.env.PATH ?? "",
    PORT: "0",
    HOST: "127.0.0.1",
    DATA_DIR: join(folder, name),
    UPLOAD_LIMIT_MB: "4000",
    // As in the image.
    MALLOC_ARENA_MAX: "1",
  };
  const log = openSync(join(folder, `${name}.log`), "w");
  const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "pipe", log] });
  const url = await new Promise<string>((resolve) => {
    child.stdout?.on("data", (text) =>
      resolve(`http://127.0.0.1:${/localhost:(\d+)/.exec(String(text))?.[1]}`),
    );
  });
  return { url, process: child };
}

/** Downloads and discards. @returns the number of bytes */
export function download(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
      });
      response.on("end", () => resolve(size));
      response.on("error", reject);
    }).on("error", reject);
  });
}

/** Milliseconds until the first byte of the body arrives; discards the rest. */
export function firstByte(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    get(url, { agent: false }, (response) => {
      response.once("data", () => {
        const took = performance.now() - started;
        response.destroy();
        resolve(took);
      });
    }).on("error", reject);
  });
}

export async function upload(url: string, path: string): Promise<string> {
  const out = spawn("curl", ["-s", "-F", `file=@${path}`, `${url}/drivers/upload`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const chunk of out.stdout) text += chunk;
  return /href="\/drivers\/(\d+)">Open driver/.exec(text)?.[1] ?? "";
}

/** Resident memory of a process, now and at its peak, in MiB. */
export function memory(child: ChildProcess): { now: number; peak: number } {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const value = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { now: value("VmRSS"), peak: value("VmHWM") };
}

/** Requests /health repeatedly while work runs. @returns milliseconds for each response */
export async function healthDuring(url: string, work: () => Promise<unknown>): Promise<number[]> {
  const latencies: number[] = [];
  let isDone = false;
  const watch = (async () => {
    while (!isDone) {
      latencies.push(...(await times(1, () => download(`${url}/health`))));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  await work();
  isDone = true;
  await watch;
  return latencies;
}

/** Waits until a process has used no processor time for half a second, so that its background work is done. */
export async function waitUntilIdle({ pid }: ChildProcess): Promise<void> {
  const ticks = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  for (let before = -1, now = ticks(); before !== now; now = ticks()) {
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
