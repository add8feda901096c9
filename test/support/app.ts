import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import type { App } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { createApp } from "../../src/create-app.ts";
import type { RequestEntry } from "../../src/domain/log.ts";
import { defaultLimits, type Limits } from "../../src/http/requests/limits.ts";
import { closeServer, createHttpServer } from "../../src/http/server.ts";
import { inspectFile } from "../../src/services/drivers/inspection-child.ts";
import type { InspectionLimits } from "../../src/workers/inspections.ts";
import { Workers } from "../../src/workers/pool.ts";
import { atEnd } from "./at-end.ts";
import { cleanUp } from "./clean-up.ts";
import { driverZip } from "./drivers/driver-zip.ts";

/** The bundled file; worker threads and command-line tests run it. */
export const bundle = resolve("dist/platen.cjs");

export interface TestApp {
  readonly app: App;
  readonly url: string;
  readonly dataDir: string;
  /** The log so far. */
  readonly lines: string[];
  /** The answered requests so far. */
  readonly requests: RequestEntry[];
  /** Stops the service. It is also stopped after the test. */
  stop(): Promise<void>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Posts a form as curl does, without a browser's headers. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  upload(path: string, bytes: Uint8Array, name?: string, headers?: Record<string, string>): Promise<Response>;
  /** Uploads a driver, by default a small one, and returns its id. */
  addDriver(bytes?: Uint8Array): Promise<number>;
  /** Creates a printer, by default a complete one with a driver, and returns its id. */
  addPrinter(fields?: Record<string, string>): Promise<number>;
}

let shared: Workers | undefined;

/** The worker threads that all services of this process share. */
function sharedWorkers(): Workers {
  if (shared === undefined) {
    shared = new Workers(bundle, 2, Number.POSITIVE_INFINITY);
    atEnd(() => shared?.close());
  }
  return shared;
}

/** A cheap hash, for quick tests; passwords.test.ts tests the real cost. */
export const passwordCost = { ln: 10, r: 8, p: 1 };

/** Creates a folder, which is removed after the test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "platen-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Starts the real service on a free port. Its clock gives a fixed time unless the test passes another clock. */
export async function startApp(
  t: TestContext,
  options: Partial<App["config"]> & {
    readonly limits?: Partial<Limits>;
    readonly clock?: () => number;
    readonly undoMs?: number;
    /** `process`: a child process reads each driver, as in the real service. */
    readonly inspection?: "process";
    /** `own`: unshared threads, which the test may end or alter. */
    readonly workers?: "own";
  } = {},
  inspectionLimits: Partial<InspectionLimits> = {},
): Promise<TestApp> {
  const dataDir = options.dataDir ?? (await temporaryFolder(t));
  const lines: string[] = [];
  const requests: RequestEntry[] = [];
  const log = (line: string) => lines.push(line);
  const {
    limits,
    clock = () => Date.UTC(2026, 10, 21, 14, 5),
    undoMs,
    inspection,
    workers,
    ...settings
  } = options;
  const isOwnProcess = inspection === "process" || Object.keys(inspectionLimits).length > 0;
  const ofTests = { dataDir, port: 0, host: "127.0.0.1", uploadLimitBytes: 64 << 20 };
  const config = { ...readConfig({}), ...ofTests, ...settings };
  const { app, close } = await createApp(config, {
    script: bundle,
    clock,
    log,
    logRequest: (entry) => requests.push(entry),
    inspectionLimits,
    readArchive: isOwnProcess ? undefined : inspectFile,
    workers: workers === "own" ? undefined : sharedWorkers(),
    undoMs,
    passwordCost,
  });
  const server = createHttpServer(app, { ...defaultLimits, ...limits });
  // A test may block this process while another program runs; the service's connections must not time out meanwhile.
  server.keepAliveTimeout = limits?.keepAliveMs ?? 10 * 60_000;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  app.archives.start();
  let stopped: Promise<void> | undefined;
  const stopOnce = () => {
    stopped ??= closeServer(server, 100).then(close);
    return stopped;
  };
  cleanUp(t, stopOnce);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { app, url, dataDir, lines, requests, stop: stopOnce, ...client(url) };
}

/** Sends requests to a running service. @param always headers of every request @param signal aborts them */
export function client(
  url: string,
  always: Record<string, string> = {},
  signal: AbortSignal | null = null,
): Omit<TestApp, "app" | "url" | "dataDir" | "lines" | "requests" | "stop"> {
  const request = (path: string, init?: RequestInit) =>
    fetch(url + path, { redirect: "manual", signal, ...init, headers: { ...always, ...init?.headers } });
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    request(path, { method: "POST", body: new URLSearchParams(fields), headers });
  const upload = (
    path: string,
    bytes: Uint8Array,
    name = "driver.zip",
    headers: Record<string, string> = {},
  ) => {
    const body = new FormData();
    body.set("file", new Blob([new Uint8Array(bytes)]), name);
    return request(path, { method: "POST", body, headers });
  };
  const addDriver = async (bytes: Uint8Array = driverZip()) => {
    const answer = await upload("/drivers/upload", bytes);
    const text = await answer.text();
    const id = /href="[^"]*\/drivers\/(\d+)">Open driver/.exec(text)?.[1];
    if (id === undefined) throw new Error(`no driver was made: ${text.slice(0, 300)}`);
    return Number(id);
  };
  const addPrinter = async (fields: Record<string, string> = {}) => {
    const driver_id = fields.driver_id ?? String(await addDriver());
    const answer = await post(
      "/printers",
      { name: "Office", address: "10.0.0.9", ...fields, driver_id },
      navigation,
    );
    const id = /\/printers\/(\d+)(?:\?|$)/.exec(answer.headers.get("location") ?? "")?.[1];
    if (id === undefined) throw new Error(`no printer was made: ${answer.status}`);
    return Number(id);
  };
  return { fetch: request, post, upload, addDriver, addPrinter };
}

/** The headers that a browser sends when a plain form is submitted. */
export const navigation = { "upgrade-insecure-requests": "1", accept: "text/html,*/*;q=0.8" };
