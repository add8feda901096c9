import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { runCommand } from "./cli.ts";
import { type Config, isOpenToAll, lacksAdmin, readSettings, waysToAdmin } from "./config.ts";
import { adminPasswordOf, createApp } from "./create-app.ts";
import { messageOf } from "./domain/errors.ts";
import { closeServer, createHttpServer } from "./http/server.ts";

/** What runs at a signal may take so long to finish. */
export const shutdownTimeoutMs = 10_000;

/** Of what SIGPIPE ends, as a shell sees it. */
const unreadExitCode = 128 + 13;

const openWarning =
  "warning: sign-in is off: whoever reaches this service can change what runs as SYSTEM on every PC. Set ADMIN_PASSWORD (or HOST=127.0.0.1, where this machine alone uses it)";

const adminlessWarning = `warning: nobody is administrator: accounts, tokens, backups and the audit log are open to nobody. To change that, set ${waysToAdmin}`;

/** The main thread: what the command line asks for, which is to serve unless it says otherwise. */
export async function main(): Promise<void> {
  // Nobody who stops reading what is said ends what is being done.
  process.stderr.on("error", ignoreUnread);
  const command = await runCommand(process.argv.slice(2), PLATEN_VERSION, { out: print, err: say });
  if (command.kind === "serve") await serve(await checkedConfig(), command.recover);
  else process.exitCode = command.exitCode;
}

/** Whoever reads it may have seen enough, as `head` has: then there is no more to do. */
function print(text: string): void {
  if (process.stdout.listenerCount("error") === 0) {
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      ignoreUnread(error);
      process.exit(unreadExitCode);
    });
  }
  process.stdout.write(text);
}

function say(text: string): void {
  process.stderr.write(text);
}

/** @throws the error, unless it says that nobody reads the pipe any more */
function ignoreUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** @throws Error that names every wrong setting */
async function checkedConfig(): Promise<Config> {
  const { config, problems } = readSettings();
  if (problems.length === 0) return config;
  // What is wrong with a file is otherwise found when it is used.
  await adminPasswordOf(config).catch((error: unknown) => problems.push(messageOf(error)));
  throw new Error(problems.join("\n"));
}

async function serve(config: Config, recover: boolean): Promise<void> {
  const { app, close } = await createApp(config, { recover });
  const server = createHttpServer(app);
  const port = await listen(server, config);
  server.on("error", (error) => app.log(`the server: ${error.message}`));
  // Before anybody can know that it runs.
  onceAtSignal(async (signal) => {
    app.log(`${signal}: finishing what runs, ${shutdownTimeoutMs / 1000} seconds at most`);
    await closeServer(server, shutdownTimeoutMs);
    app.store.audit.note("stopped", { what: signal });
    await close();
    process.exit(0);
  });
  process.stdout.write(
    `Platen ${PLATEN_VERSION} listens on http://localhost:${port}, data in ${config.dataDir}\n`,
  );
  if (isOpenToAll(config)) app.log(openWarning);
  if (lacksAdmin(config)) app.log(adminlessWarning);
  app.store.audit.note("started", { what: PLATEN_VERSION });
  app.archives.start();
  app.backups.start();
}

/** @returns the port, which the system chose where the setting is 0 */
async function listen(server: Server, { port, host }: Config): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(listenError(error, port, host));
    server.once("error", refuse);
    server.listen(port, host, () => {
      server.off("error", refuse);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

/** What is wrong with the settings where nothing can be listened on. */
function listenError(error: NodeJS.ErrnoException, port: number, host: string | undefined): Error {
  const { code = error.message } = error;
  const at = host === undefined ? "" : ` at HOST ${host}`;
  if (code === "EADDRINUSE")
    return new Error(
      `PORT is ${port}, and something else listens there${at} already (${code}), perhaps another Platen: stop that, or choose another PORT.`,
    );
  if (code === "EACCES" || code === "EPERM")
    return new Error(
      `PORT is ${port}, which this user may not listen on${at} (${code}): choose one from 1024 on.`,
    );
  if (host === undefined) return new Error(`PORT is ${port}, which cannot be listened on: ${error.message}`);
  return new Error(
    `HOST is ${host}, which cannot be listened on (${code}): it is an address or a name of this machine, such as 127.0.0.1, or is not set, for all addresses.`,
  );
}

/** Stops at the first signal; further ones change nothing. */
function onceAtSignal(stop: (signal: string) => Promise<void>): void {
  let isStopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (!isStopping) void stop(signal);
      isStopping = true;
    });
  }
}
