import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyAudit } from "../../src/store/audit/verify.ts";
import { machine, table } from "../bench/figures.ts";
import { adminPassword } from "../support/access/people.ts";
import { proxySettings } from "../support/access/proxies.ts";
import { bundle } from "../support/app.ts";
import { activities, createShop } from "./load.ts";
import { growth, type Sample } from "./verdict.ts";

// Runs the bundled service under a mixed load for SOAK_MINUTES. What it uses while idle must not grow.
// SOAK_PAUSE_MS is the pause after each action of an activity.

const minutes = Number(process.env.SOAK_MINUTES ?? 30);
const pauseMs = Number(process.env.SOAK_PAUSE_MS ?? 50);
/** The time between samples: a minute, or less so that a run has fifteen. */
const sampleMs = Math.min(60_000, (minutes * 60_000) / 15);

const folder = mkdtempSync(join(tmpdir(), "platen-soak-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The paths of everything below a folder. */
function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
}

const dataDir = join(folder, "data");
const temporary = join(folder, "tmp");
/** Backups and the audit log may grow. */
const isKept = (name: string) => /^(?:backups|audit)(?:[\\/]|$)/.test(name);
const filesNow = () => [
  ...filesBelow(dataDir).filter((name) => !isKept(name)),
  ...filesBelow(temporary).map((name) => `tmp: ${name}`),
];

interface Service {
  readonly url: string;
  readonly child: ChildProcess;
  readonly lines: string[];
}

async function start(): Promise<Service> {
  mkdirSync(temporary);
  const env = {
    PATH: process.env.PATH ?? "",
    PORT: "0",
    HOST: "127.0.0.1",
    DATA_DIR: dataDir,
    TMPDIR: temporary,
    // As in the image.
    MALLOC_ARENA_MAX: "1",
    // Sign-in is on, with roles from a proxy and with passwords.
    ADMIN_PASSWORD: adminPassword,
    ...proxySettings,
  };
  // A copy, because the next build replaces the file from which this process starts threads.
  const program = join(folder, "platen.cjs");
  copyFileSync(bundle, program);
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  const url = await new Promise<string>((resolve) => {
    const take = (chunk: unknown) => {
      lines.push(...String(chunk).split("\n").filter(Boolean));
      const port = /localhost:(\d+)/.exec(String(chunk))?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
  });
  return { url, child, lines };
}

/** Pauses all activities between their actions. */
class Gate {
  #waiting: (() => void)[] = [];
  #isClosed = false;
  #busy = 0;

  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#isClosed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy++;
    return work().finally(() => {
      this.#busy--;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#busy > 0) await sleep(50);
  }

  open(): void {
    this.#isClosed = false;
    for (const go of this.#waiting.splice(0)) go();
  }
}

const descriptorsOf = ({ child }: Service) => readdirSync(`/proc/${child.pid}/fd`).length;

/** Measures the service while it is idle and after idle connections are closed. */
async function sample(service: Service, minute: number): Promise<Sample> {
  let stableCount = 0;
  for (let before = -1, looks = 0; stableCount < 12 && looks < 60; looks++) {
    const now = descriptorsOf(service);
    stableCount = now === before ? stableCount + 1 : 0;
    before = now;
    await sleep(500);
  }
  const status = readFileSync(`/proc/${service.child.pid}/status`, "utf8");
  const rss = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  return { minute, rss, descriptors: descriptorsOf(service), files: filesNow().length };
}

async function soak(): Promise<string[]> {
  const service = await start();
  process.on("exit", () => service.child.kill("SIGKILL"));
  const shop = await createShop(service.url);
  const gate = new Gate();
  const tallies = new Map<string, Map<number, number>>();
  const problems: string[] = [];
  const ends = Date.now() + minutes * 60_000;
  const running = Object.entries(activities(service.url, shop)).map(async ([name, activity]) => {
    const tally = new Map<number, number>();
    tallies.set(name, tally);
    for (let round = 0; Date.now() < ends; round++) {
      const statuses = await gate
        .pass(() => activity(round))
        .catch((error: Error) => {
          problems.push(`${name}, round ${round}: ${error.message}`);
          return [];
        });
      for (const status of statuses) tally.set(status, (tally.get(status) ?? 0) + 1);
      await sleep(pauseMs);
    }
  });
  // The first sample comes after every activity has run a few times.
  await sleep(Math.min(sampleMs, 15_000));
  await gate.close();
  await sample(service, 0);
  const filesBefore = filesNow();
  gate.open();
  const samples: Sample[] = [];
  while (Date.now() + sampleMs < ends) {
    await sleep(sampleMs);
    await gate.close();
    samples.push(await sample(service, (minutes * 60_000 - (ends - Date.now())) / 60_000));
    gate.open();
  }
  await Promise.all(running);
  await sample(service, minutes);
  const filesAfter = filesNow();
  report(samples, tallies);
  const ended = new Promise((resolve) => service.child.once("exit", resolve));
  service.child.kill("SIGTERM");
  await ended;
  const { broken, isTorn } = await verifyAudit(dataDir);
  return [
    ...(broken === undefined && !isTorn ? [] : [`the audit log is broken: ${broken?.what ?? "torn"}`]),
    ...problems.slice(0, 20),
    ...growth(samples),
    ...filesAfter.filter((name) => !filesBefore.includes(name)).map((name) => `left behind: ${name}`),
    ...service.lines.filter((line) => /error [0-9a-f]{8}|Warning/.test(line)).slice(0, 20),
  ];
}

function report(samples: readonly Sample[], tallies: ReadonlyMap<string, ReadonlyMap<number, number>>): void {
  console.log(
    `\n## Soak\n\n${machine()}, ${minutes} minutes, ${pauseMs} ms between two things that each does.\n`,
  );
  table([
    ["minute", "resident memory", "descriptors", "files"],
    ...samples.map(({ minute, rss, descriptors, files }) => [
      minute.toFixed(1),
      `${rss.toFixed(0)} MiB`,
      String(descriptors),
      String(files),
    ]),
  ]);
  console.log();
  table([
    ["what", "answers"],
    ...[...tallies].map(([name, tally]) => [
      name,
      [...tally].map(([status, count]) => `${status} × ${count}`).join(", ") || "none is waited for",
    ]),
  ]);
}

soak().then(
  (problems) => {
    for (const problem of problems) console.log(`SOAK: ${problem}`);
    console.log(problems.length === 0 ? "\nflat: nothing grew, nothing was left behind" : "\nnot flat");
    process.exit(problems.length === 0 ? 0 : 1);
  },
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
