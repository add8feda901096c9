import { randomBytes } from "node:crypto";
import { closeSync, lstatSync, openSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join, relative } from "node:path";

export interface Lock {
  release(): Promise<void>;
}

/** The longest socket path that every Unix takes, less a little. */
const maxSocketPath = 100;
const socketName = /^lock-[0-9a-f]{16}$/;
/** What versions before left in the folder to keep other hosts out. */
const leaseName = /^lease(?:\.[0-9a-f]{16})?$/;
const waitMs = 20;

/**
 * Takes a folder for this process alone. The lock is a listening socket of a name of its own: it dies with its holder, so a
 * file left by a crash never stops a start, and it works across containers that share the volume. A process that starts
 * listens first and looks at the others afterwards: of two that start at once at least one sees the other, and the one with
 * the lower name goes on. Another host that shares the folder over a network is not seen.
 * @throws Error when another process holds the folder
 */
export async function lockFolder(folder: string, log: (line: string) => void): Promise<Lock> {
  const directory = openSync(folder, "r");
  const socket = new LockSocket(folder, directory);
  const release = async () => {
    await socket.close();
    closeSync(directory);
  };
  try {
    if (await listens(socket, folder, log)) await socket.contend();
    for (const name of readdirSync(folder))
      if (leaseName.test(name)) rmSync(join(folder, name), { force: true });
    return { release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** @returns false, with a warning, where the folder's file system cannot hold sockets */
async function listens(socket: LockSocket, folder: string, log: (line: string) => void): Promise<boolean> {
  try {
    await socket.listen();
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw held(folder);
    if (!["ENOTSUP", "EOPNOTSUPP", "EPERM", "ENOSYS", "EINVAL"].includes(code)) throw error;
    log(`warning: ${folder} cannot hold a lock (${code}): make sure that no second process uses it`);
    return false;
  }
}

function held(folder: string): Error {
  return new Error(
    `Another Platen is running on ${folder}. Stop it first, or give this one another DATA_DIR.`,
  );
}

/** A socket that says whether its process holds the folder, or is still finding out. */
class LockSocket {
  readonly #name = `lock-${randomBytes(8).toString("hex")}`;
  readonly #folder: string;
  readonly #directory: number;
  readonly #server: Server;
  #state: "starting" | "held" = "starting";

  constructor(folder: string, directory: number) {
    this.#folder = folder;
    this.#directory = directory;
    this.#server = createServer((socket) => {
      socket.on("error", () => {});
      socket.end(this.#state);
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#pathOf(this.#name), () => {
        this.#server.unref();
        resolve();
      });
    });
  }

  /** Looks at all others until it is clear who has the folder, and removes the dead ones. @throws Error when it is another */
  async contend(): Promise<void> {
    if (process.platform === "win32") return;
    const others = readdirSync(this.#folder).filter((name) => socketName.test(name) && name !== this.#name);
    for (const other of others) {
      for (let state = await this.#ask(other); state !== undefined; state = await this.#ask(other)) {
        if (state === "held" || other < this.#name) throw held(this.#folder);
        // It will see us and give up, or has not seen us and will hold the folder.
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
    this.#state = "held";
    for (const other of others) removeSocket(join(this.#folder, other));
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** A path that is short enough for a socket. */
  #pathOf(name: string): string {
    const file = join(this.#folder, name);
    if (process.platform === "win32") return `\\\\.\\pipe\\platen-${this.#folder.replace(/\W/g, "-")}`;
    const paths = [file, relative(process.cwd(), file), `/proc/self/fd/${this.#directory}/${name}`];
    return paths.find((path) => path.length < maxSocketPath) ?? file;
  }

  /** What another's socket answers; undefined when nobody listens on it any more. */
  #ask(name: string): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      let answer = "";
      const socket = connect(this.#pathOf(name));
      socket.setEncoding("utf8").setTimeout(2000, () => socket.destroy());
      socket.on("data", (text: string) => {
        answer += text;
      });
      // A holder that is too busy to answer is a holder all the same.
      socket.on("close", () => resolve(answer || "held"));
      socket.on("error", (error: NodeJS.ErrnoException) => {
        if (["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(error.code ?? "")) resolve(undefined);
        // It ended before it answered: the next question finds nobody there.
        else if (error.code === "ECONNRESET") resolve(this.#ask(name));
        else reject(error);
      });
    });
  }
}

function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) rmSync(path, { force: true });
}
