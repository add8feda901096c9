import { randomBytes } from "node:crypto";
import { closeSync, lstatSync, openSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join, relative } from "node:path";
import { Lease, type LeaseOptions } from "./lease.ts";
import { isDiskFull } from "./reserve.ts";

export interface Lock {
  /** @throws Error when another process has taken the folder over meanwhile */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

export type LockOptions = LeaseOptions;

/** The longest socket path that every Unix takes, less a little. */
const maxSocketPath = 100;
const prefix = "lock-";
const socketName = /^lock-[0-9a-f]{16}$/;
const waitMs = 20;

/**
 * Takes a folder for this process alone. On one host the lock is a listening socket of a name of its own: it
 * dies with its holder, so a file left by a crash never stops a start, and it works across containers that
 * share the volume. Who starts shows its socket first and looks at the others' afterwards: of two that start
 * at once at least one sees the other, and the one with the lower name goes on. Between hosts that share a
 * file system, where sockets do not reach, a lease decides.
 * @throws Error when another process holds the folder
 */
export async function lockFolder(
  folder: string,
  log: (line: string) => void,
  options: LockOptions = {},
): Promise<Lock> {
  const lease = new Lease(folder, options);
  if (await lease.isHeldElsewhere()) throw held(folder, " (another host)");
  const claim = await claimOn(folder, log);
  try {
    const dead = (await claim?.contend()) ?? [];
    const isLeased = await takeLease(folder, lease, log);
    // Not before: on another host's lease its sockets look dead from here, and are not.
    for (const name of dead) removeSocket(join(folder, name));
    return {
      confirm: async () => {
        if (isLeased && !(await lease.isOurs())) throw takenOver(folder);
      },
      release: async () => {
        if (isLeased) await lease.release();
        await claim?.release();
      },
    };
  } catch (error) {
    await claim?.release();
    throw error;
  }
}

/** A socket of our own in the folder; undefined when its file system cannot hold sockets. */
async function claimOn(folder: string, log: (line: string) => void): Promise<Claim | undefined> {
  const directory = openSync(folder, "r");
  try {
    const claim = new Claim(folder, directory);
    await claim.show();
    return claim;
  } catch (error) {
    closeSync(directory);
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw held(folder);
    if (!["ENOTSUP", "EOPNOTSUPP", "EPERM", "ENOSYS", "EINVAL"].includes(code)) throw error;
    log(`warning: ${folder} cannot hold a lock (${code}): make sure that no second process uses it`);
    return undefined;
  }
}

async function takeLease(folder: string, lease: Lease, log: (line: string) => void): Promise<boolean> {
  try {
    if (await lease.take()) return true;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    log(`warning: ${folder} has no space for a lease: make sure that no other host uses it`);
    return false;
  }
  throw held(folder, " (another host)");
}

function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) rmSync(path, { force: true });
}

function held(folder: string, where = ""): Error {
  return new Error(
    `Another Platen is running on ${folder}${where}. Stop it first, or give this one another DATA_DIR.`,
  );
}

function takenOver(folder: string): Error {
  return new Error(
    `Another Platen (another host) has taken ${folder} over while this one stood still. Nothing more is saved here: stop one of them, and start the other again.`,
  );
}

/** What a process shows of itself: whether it has the folder, or is still finding out. */
type State = "starting" | "held";

class Claim {
  readonly #name = `${prefix}${randomBytes(8).toString("hex")}`;
  readonly #folder: string;
  readonly #directory: number;
  readonly #server: Server;
  #state: State = "starting";

  constructor(folder: string, directory: number) {
    this.#folder = folder;
    this.#directory = directory;
    this.#server = createServer((socket) => {
      socket.on("error", () => {});
      socket.end(this.#state);
    });
  }

  show(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#pathOf(this.#name), () => {
        this.#server.unref();
        resolve();
      });
    });
  }

  /**
   * Looks at everybody else until it is clear who has the folder.
   * @returns the names on which nobody listens
   * @throws Error when it is another
   */
  async contend(): Promise<string[]> {
    if (process.platform === "win32") return [];
    const others = readdirSync(this.#folder).filter((name) => socketName.test(name) && name !== this.#name);
    for (const other of others) {
      for (let state = await this.#ask(other); state !== undefined; state = await this.#ask(other)) {
        if (state === "held" || other < this.#name) throw held(this.#folder);
        // It will see us and give up, or has not seen us and will hold the folder.
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
    this.#state = "held";
    return others;
  }

  async release(): Promise<void> {
    await this.#close();
    closeSync(this.#directory);
  }

  #close(): Promise<void> {
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
