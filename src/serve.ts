import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { runCommand } from "./cli.ts";
import { adminRemedy, type Config, isOpenToAll, lacksAdmin, readSettings } from "./config.ts";
import { adminPasswordOf, createApp, oidcSecretOf } from "./create-app.ts";
import { errorMessage } from "./domain/errors.ts";
import { basePath } from "./http/base-path.ts";
import { routes } from "./http/routes.ts";
import { closeServer, createHttpServer } from "./http/server.ts";

/** Requests that are still running at a signal get this long to finish. */
export const shutdownTimeoutMs = 10_000;

/** The exit code that shells show for a process ended by SIGPIPE. */
const closedPipeExitCode = 128 + 13;

const noSignInWarning =
  "warning: sign-in is off: anyone who can reach this service can change what runs as SYSTEM on every PC. Set ADMIN_PASSWORD_FILE (or HOST=127.0.0.1, if only this machine uses it)";

const noAdminWarning = `warning: nobody is administrator: accounts, tokens, backups and the audit log are open to nobody. To change that, set ${adminRemedy}`;

/** Runs the command line in the main thread; `serve` is the default. */
export async function main(): Promise<void> {
  // A closed standard error must not end the command.
  process.stderr.on("error", ignoreClosedPipe);
  const command = await runCommand(process.argv.slice(2), PLATEN_VERSION, { out: print, err: printError });
  if (command.kind === "serve") await serve(await checkedConfig(), command.recover);
  else process.exitCode = command.exitCode;
}

/** Prints to standard output; exits if its reader has closed it, as `head` does. */
function print(text: string): void {
  if (process.stdout.listenerCount("error") === 0) {
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      ignoreClosedPipe(error);
      process.exit(closedPipeExitCode);
    });
  }
  process.stdout.write(text);
}

function printError(text: string): void {
  process.stderr.write(text);
}

/** @throws the error, unless the pipe's reader has closed it */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** @throws Error that names every wrong setting */
async function checkedConfig(): Promise<Config> {
  const { config, problems } = readSettings();
  const base = basePath(config);
  if (base !== "" && routes.some(({ path }) => path === base || path.startsWith(`${base}/`)))
    problems.push(`PUBLIC_URL ends in ${base}, which is a path of Platen’s own. Choose another path.`);
  if (problems.length === 0) return config;
  // The files of secrets are checked here too, so that all problems are reported at once.
  for (const secret of [adminPasswordOf(config), oidcSecretOf(config)])
    await secret.catch((error: unknown) => problems.push(errorMessage(error)));
  throw new Error(problems.join("\n"));
}

async function serve(config: Config, recover: boolean): Promise<void> {
  const { app, close } = await createApp(config, { recover });
  const server = createHttpServer(app);
  const port = await listen(server, config);
  server.on("error", (error) => app.log(`the server: ${error.message}`));
  // Registered before the line below, because a signal may arrive as soon as that line is printed.
  onceAtSignal(async (signal) => {
    app.log(`${signal}: finishing what runs, ${shutdownTimeoutMs / 1000} seconds at most`);
    await closeServer(server, shutdownTimeoutMs);
    app.store.audit.record("stopped", { what: signal });
    await close();
    process.exit(0);
  });
  process.stdout.write(
    `Platen ${PLATEN_VERSION} listens on http://localhost:${port}, data in ${config.dataDir}\n`,
  );
  if (isOpenToAll(config)) app.log(noSignInWarning);
  if (lacksAdmin(config)) app.log(noAdminWarning);
  app.store.audit.record("started", { what: PLATEN_VERSION });
  void app.oidc?.check();
  app.archives.start();
  app.backups.start();
}

/** @returns the port; the system chooses it if the setting is 0 */
async function listen(server: Server, { port, host }: Config): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(listenError(error, port, host));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

/** The message names the setting that is wrong. */
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

/** Calls `stop` at the first signal and ignores further ones. */
function onceAtSignal(stop: (signal: string) => Promise<void>): void {
  let isStopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (!isStopping) void stop(signal);
      isStopping = true;
    });
  }
}
