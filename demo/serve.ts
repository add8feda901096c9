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

/** A filled service in a temporary folder. */
export interface Demo {
  readonly app: App;
  readonly url: string;
  readonly dataDir: string;
  /** Ends the service and removes its folder; more than once does no harm. */
  stop(): Promise<void>;
}

interface DemoOptions {
  /** `PORT` and `HOST`, as the service itself reads them. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** UTC, milliseconds since 1970: what the shop's clock says once it is filled. */
  readonly now?: () => number;
}

const day = 24 * 60 * 60_000;
const minute = 60_000;

/** Serves a shop with eight clients, 120 printers and ten drivers. */
export async function startDemo({ environment = {}, now = Date.now }: DemoOptions = {}): Promise<Demo> {
  const dataDir = mkdtempSync(join(tmpdir(), "platen-demo-"));
  // Also where something fails on the way, or the process is ended without being asked.
  const remove = () => removeFolder(dataDir);
  process.once("exit", remove);
  // The same each time, as everything else that its pages show.
  writeFileSync(join(dataDir, "secret"), Buffer.alloc(32, "a shop to look at"), { mode: 0o600 });
  const config = readConfig({ PORT: environment.PORT, HOST: environment.HOST, DATA_DIR: dataDir });
  let setTo: number | undefined;
  const { app, close } = await createApp(config, { script: bundle, clock: () => setTo ?? now() });
  const server = createHttpServer(app);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, config.host, resolve);
  });
  const url = `http://${nameFor(config.host)}:${(server.address() as AddressInfo).port}`;
  const midnight = now() - (now() % day);
  const daysAgo = (days: number) => {
    setTo = midnight - days * day + (8 * 60 + ((days * 37) % 540)) * minute;
  };
  await fillShop({ app, url, dataDir, daysAgo });
  setTo = undefined;
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    await closeServer(server, 100);
    await close();
    remove();
    process.off("exit", remove);
  };
  return { app, url, dataDir, stop: () => (stopped ??= stop()) };
}

/** Threads may still write into it while the process ends: it has to stay away for a while. */
function removeFolder(path: string): void {
  const ends = Date.now() + 5000;
  for (let absent = 0; absent < 3 && Date.now() < ends; absent++) {
    if (existsSync(path)) absent = 0;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Something was written into it meanwhile.
    }
    Atomics.wait(moment, 0, 0, 20);
  }
}

/** Nothing is awaited while a process ends. */
const moment = new Int32Array(new SharedArrayBuffer(4));

/** How this machine itself reaches a service that listens there. */
function nameFor(host: string | undefined): string {
  if (host === undefined || host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
