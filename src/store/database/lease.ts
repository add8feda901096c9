import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isDiskFull } from "./reserve.ts";

export interface LeaseOptions {
  /** How often a holder shows that it lives; 2 seconds unless given. */
  readonly beatMs?: number;
  /** What tells one host, as the kernel sees it, from another. */
  readonly host?: string;
}

/** As the file holds it: one line of JSON, always of the same length for the same holder. */
interface Held {
  readonly host: string;
  /** Made anew by every process. */
  readonly holder: string;
  readonly beat: string;
}

const timeoutBeats = 3;
const looksPerBeat = 4;
const beatDigits = 12;

/**
 * A file that its holder rewrites every two seconds. Sockets do not reach another host that shares the file
 * system; this does. A lease that stands still for three beats is of a process that is dead.
 */
export class Lease {
  readonly #path: string;
  readonly #host: string;
  readonly #beatMs: number;
  readonly #holder = randomBytes(8).toString("hex");
  /** A holder on another host that was seen to stand still. */
  #dead: string | undefined;
  #beat = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, { beatMs = 2000, host = thisHost() }: LeaseOptions) {
    this.#path = join(folder, "lease");
    this.#beatMs = beatMs;
    this.#host = host;
  }

  /** Whether another host holds the folder. Waits only where a lease of one is there: up to three beats. */
  async isHeldElsewhere(): Promise<boolean> {
    const first = await readLease(this.#path);
    if (first === undefined || first.host === this.#host) return false;
    for (let look = 0; look < timeoutBeats * looksPerBeat; look++) {
      await pause(this.#beatMs / looksPerBeat);
      const now = await readLease(this.#path);
      if (now === undefined || now.host === this.#host) return false;
      if (now.holder !== first.holder || now.beat !== first.beat) return true;
    }
    this.#dead = first.holder;
    return false;
  }

  /**
   * Takes the lease that nobody holds. Where a dead host's was there, another starter may take it over at
   * the same time: the last of them has it, which shows a beat later.
   * @returns false when another host was quicker
   */
  async take(): Promise<boolean> {
    const before = await readLease(this.#path);
    const isElsewhere = before !== undefined && before.host !== this.#host;
    if (isElsewhere && before.holder !== this.#dead) return false;
    if (before !== undefined) await this.#replace();
    if (isElsewhere) await pause(this.#beatMs);
    if (!(await this.isOurs())) return false;
    this.#timer = setInterval(() => void this.#show().catch(() => {}), this.#beatMs).unref();
    return true;
  }

  /**
   * Whether it is ours, or can be made so because there is none. A process that stood still for long may
   * have lost it.
   */
  async isOurs(): Promise<boolean> {
    const now = await readLease(this.#path);
    return now === undefined ? this.#create() : now.holder === this.#holder;
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    if ((await readLease(this.#path))?.holder === this.#holder) await rm(this.#path, { force: true });
  }

  async #create(): Promise<boolean> {
    try {
      await writeNew(this.#path, this.#line());
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      return false;
    }
  }

  async #replace(): Promise<void> {
    const own = `${this.#path}.${this.#holder}`;
    await writeNew(own, this.#line());
    await rename(own, this.#path);
  }

  /** In place, through one handle: a lease that another has put there meanwhile is never written to. */
  async #show(): Promise<void> {
    const handle = await open(this.#path, "r+");
    try {
      if (parseLease(await handle.readFile("utf8"))?.holder !== this.#holder) return;
      this.#beat++;
      await handle.write(this.#line(), 0);
    } finally {
      await handle.close();
    }
  }

  #line(): string {
    const beat = String(this.#beat).padStart(beatDigits, "0");
    const held: Held = { host: this.#host, holder: this.#holder, beat };
    return `${JSON.stringify(held)}\n`;
  }
}

/** On a full disk the file is removed again, rather than left without what it says. */
async function writeNew(path: string, text: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, "wx");
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    if (handle !== undefined && isDiskFull(error)) await rm(path, { force: true });
    throw error;
  } finally {
    await handle?.close();
  }
}

/** A lease that holds something else, or nothing, is of no host that is known. */
async function readLease(path: string): Promise<Held | undefined> {
  try {
    return parseLease(await readFile(path, "utf8")) ?? { host: "", holder: "", beat: "" };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function parseLease(text: string): Held | undefined {
  try {
    const { host, holder, beat } = JSON.parse(text) as Partial<Held>;
    if (typeof host !== "string" || typeof holder !== "string" || typeof beat !== "string") return undefined;
    return { host, holder, beat };
  } catch {
    return undefined;
  }
}

/** Containers that share a kernel share its boot, and see each other's sockets. */
function thisHost(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return hostname();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
