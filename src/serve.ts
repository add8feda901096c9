import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { App } from "./app.ts";
import { runCommand } from "./cli.ts";
import { type Config, readConfig } from "./config.ts";
import { closeServer, createHttpServer } from "./http/server.ts";
import { ArchiveCheck } from "./services/archive-check.ts";
import { PackageBuilder } from "./services/packages.ts";
import { openStore } from "./store/store.ts";
import { Inspections } from "./workers/inspections.ts";
import { Workers } from "./workers/pool.ts";

const patienceMs = 10_000;

function log(line: string): void {
  process.stderr.write(`${new Date().toISOString()} ${line}\n`);
}

/** The main thread: what the command line asks for, which is to serve unless it says otherwise. */
export async function main(): Promise<void> {
  const command = await runCommand(process.argv.slice(2), PLATEN_VERSION, {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  });
  if (command.kind === "serve") await serve(readConfig());
  else process.exitCode = command.exitCode;
}

async function serve(config: Config): Promise<void> {
  const store = await openStore(config.dataDir, Date.now, log);
  const inspections = new Inspections(__filename);
  const workers = new Workers(__filename);
  const archives = new ArchiveCheck(store, workers, log);
  const packages = new PackageBuilder(store, workers, archives);
  const app: App = {
    config,
    version: PLATEN_VERSION,
    store,
    inspections,
    workers,
    archives,
    packages,
    clock: Date.now,
    random: randomBytes,
    log,
  };
  const server = createHttpServer(app);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, config.host, resolve);
  });
  server.on("error", (error) => log(`the server: ${error.message}`));
  const { port } = server.address() as AddressInfo;
  process.stdout.write(
    `Platen ${PLATEN_VERSION} listens on http://localhost:${port}, data in ${config.dataDir}\n`,
  );
  archives.start();
  let isStopping = false;
  const stop = async (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log(`${signal}: finishing what runs, ${patienceMs / 1000} seconds at most`);
    await closeServer(server, patienceMs);
    archives.close();
    inspections.close();
    await store.close();
    await workers.close();
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));
}
