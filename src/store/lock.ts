import { closeSync, openSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join, relative } from "node:path";

export interface Lock {
  release(): Promise<void>;
}

/** The longest socket path that every Unix takes, less a little. */
const maxSocketPath = 100;

/**
 * Takes a folder for this process alone. The lock is a listening socket: it dies with its holder, so a
 * file left by a crash or a power cut never stops a start, and it works across containers that share
 * the volume.
 * @returns undefined when the file system cannot hold sockets
 * @throws Error when another process holds the folder
 */
export async function lockFolder(folder: string, log: (line: string) => void): Promise<Lock | undefined> {
  const file = join(folder, "lock");
  const directory = openSync(folder, "r");
  const shorter = relative(process.cwd(), file);
  const short = [file, shorter, `/proc/self/fd/${directory}/lock`].find(
    (path) => path.length < maxSocketPath,
  );
  const path =
    process.platform === "win32" ? `\\\\.\\pipe\\platen-${file.replace(/\W/g, "-")}` : (short ?? file);
  try {
    if (await isHeld(path)) throw held(folder);
    if (process.platform !== "win32") removeStale(path);
    const server = await listen(path);
    await new Promise((resolve) => setTimeout(resolve, 30));
    if (!(await isOurs(path))) {
      server.close();
      throw held(folder);
    }
    return { release: () => release(server, directory) };
  } catch (error) {
    closeSync(directory);
    const code = (error as NodeJS.ErrnoException).code;
    if (!["ENOTSUP", "EOPNOTSUPP", "EPERM", "ENOSYS", "EINVAL"].includes(code ?? "")) throw error;
    log(`warning: ${folder} cannot hold a lock (${code}): make sure that no second process uses it`);
    return undefined;
  }
}

function held(folder: string): Error {
  return new Error(
    `Another Platen is running on ${folder}. Stop it first, or give this one another DATA_DIR.`,
  );
}

const token = `${process.pid}-${process.hrtime.bigint()}`;

/** What the socket's holder answers; undefined when nobody listens. */
function ask(path: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(path);
    socket.setEncoding("utf8").setTimeout(2000, () => socket.end());
    socket.on("data", (text: string) => {
      answer += text;
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(error.code ?? "")) resolve(undefined);
      else reject(error);
    });
  });
}

async function isHeld(path: string): Promise<boolean> {
  return (await ask(path)) !== undefined;
}

async function isOurs(path: string): Promise<boolean> {
  return (await ask(path)) === token;
}

function removeStale(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.end(token);
    });
    server.once("error", reject);
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

function release(server: Server, directory: number): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      closeSync(directory);
      resolve();
    });
  });
}
