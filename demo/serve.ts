import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { App } from "../src/app.ts";
import { readConfig } from "../src/config.ts";
import { createApp } from "../src/create-app.ts";
import { closeServer, createHttpServer } from "../src/http/server.ts";
import { bundle } from "../test/support/app.ts";
import { fillShop } from "./shop.ts";

/** A service with demo records in a temporary folder. */
export interface Demo {
  readonly app: App;
  readonly url: string;
  readonly dataDir: string;
  /** Stops the service and removes its folder; may be called more than once. */
  stop(): Promise<void>;
}

interface DemoOptions {
  /** `PORT` and `HOST`, as for the service. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The clock once the records are created. UTC, milliseconds since 1970. */
  readonly now?: () => number;
}

const day = 24 * 60 * 60_000;
const minute = 60_000;

/** Serves a demo with eight clients, 120 printers and ten drivers. */
export async function startDemo({ environment = {}, now = Date.now }: DemoOptions = {}): Promise<Demo> {
  const dataDir = mkdtempSync(join(tmpdir(), "platen-demo-"));
  // Also if something fails below, or the process exits unexpectedly.
  const remove = () => removeFolder(dataDir);
  process.once("exit", remove);
  // A fixed secret, so that pages are always the same.
  writeFileSync(join(dataDir, "secret"), Buffer.alloc(32, "a shop to look at"), { mode: 0o600 });
  const config = readConfig({ PORT: environment.PORT, HOST: environment.HOST, DATA_DIR: dataDir });
  let fixedTime: number | undefined;
  const { app, close } = await createApp(config, { script: bundle, clock: () => fixedTime ?? now() });
  const server = createHttpServer(app);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, config.host, resolve);
  });
  const url = `http://${reachableHost(config.host)}:${(server.address() as AddressInfo).port}`;
  const midnight = now() - (now() % day);
  const daysAgo = (days: number) => {
    fixedTime = midnight - days * day + (8 * 60 + ((days * 37) % 540)) * minute;
  };
  await fillShop({ app, url, dataDir, daysAgo });
  fixedTime = undefined;
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    await closeServer(server, 100);
    await close();
    remove();
    process.off("exit", remove);
  };
  return { app, url, dataDir, stop: () => (stopped ??= stop()) };
}

/** Removes a folder until it stays absent: threads may still write into it while the process ends. */
function removeFolder(path: string): void {
  const ends = Date.now() + 5000;
  for (let absent = 0; absent < 3 && Date.now() < ends; absent++) {
    if (existsSync(path)) absent = 0;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // A thread wrote into it meanwhile.
    }
    Atomics.wait(waitCell, 0, 0, 20);
  }
}

/** For a blocking wait: a process that exits awaits nothing. */
const waitCell = new Int32Array(new SharedArrayBuffer(4));

/** The host name by which this machine reaches a service that listens on `host`. */
function reachableHost(host: string | undefined): string {
  if (host === undefined || host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
