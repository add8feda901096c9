import { randomBytes } from "node:crypto";
import { closeSync, lstatSync, openSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";

export interface Lock {
  release(): Promise<void>;
}

/** Characters. Every Unix accepts a socket path that is shorter. */
const maxSocketPath = 100;
const socketName = /^lock-[0-9a-f]{16}$/;

/**
 * Locks a folder for this process. The lock is a listening socket with a random name. It ends with the process, so a socket
 * file left by a crash never prevents a start, and it works across containers that share the volume. A process listens first
 * and then looks for other sockets: when two start at the same time, at least one sees the other and stops, possibly both.
 * A process on another host that shares the folder over a network is not detected.
 * @throws Error when another process has locked the folder
 */
export async function lockFolder(folder: string, log: (line: string) => void): Promise<Lock> {
  const directory = openSync(folder, "r");
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end();
  });
  const release = async () => {
    await new Promise<void>((resolve) => server.close(() => resolve()));
    closeSync(directory);
  };
  const name = `lock-${randomBytes(8).toString("hex")}`;
  const pathOf = (socket: string) => socketPath(folder, directory, socket);
  try {
    if ((await startListening(server, pathOf(name), folder, log)) && process.platform !== "win32")
      for (const other of readdirSync(folder)) {
        if (!socketName.test(other) || other === name) continue;
        if (await isListening(pathOf(other))) throw folderInUse(folder);
        removeSocket(join(folder, other));
      }
    return { release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** @returns false, after a warning, when the folder's file system does not support sockets */
async function startListening(
  server: Server,
  path: string,
  folder: string,
  log: (line: string) => void,
): Promise<boolean> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve).unref();
    });
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw folderInUse(folder);
    if (!["ENOTSUP", "EOPNOTSUPP", "EPERM", "ENOSYS", "EINVAL"].includes(code)) throw error;
    log(`warning: ${folder} cannot hold a lock (${code}): make sure that no second process uses it`);
    return false;
  }
}

function folderInUse(folder: string): Error {
  return new Error(
    `Another Platen is running on ${folder}. Stop it first, or give this one another DATA_DIR.`,
  );
}

/** A path short enough for a socket. @param directory the folder's descriptor */
function socketPath(folder: string, directory: number, name: string): string {
  if (process.platform === "win32") return `\\\\.\\pipe\\platen-${folder.replace(/\W/g, "-")}`;
  const path = join(folder, name);
  return path.length < maxSocketPath ? path : `/proc/self/fd/${directory}/${name}`;
}

/** Whether a process listens on a socket. A busy process counts too, because the kernel accepts the connection. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      const { code = "" } = error;
      if (["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(code)) resolve(false);
      else if (["EAGAIN", "ECONNRESET"].includes(code)) resolve(true);
      else reject(error);
    });
  });
}

function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) rmSync(path, { force: true });
}
