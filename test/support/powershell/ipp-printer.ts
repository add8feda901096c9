import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A TCP port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** CUPS' `ippeveprinter`, with TLS on the same port. Its own D-Bus keeps its announcements off the network. */
export class IppPrinter {
  readonly port: number;
  readonly #folder: string;
  readonly #processes: ChildProcess[];

  private constructor(port: number, folder: string, processes: ChildProcess[]) {
    this.port = port;
    this.#folder = folder;
    this.#processes = processes;
  }

  /** @param options further arguments of `ippeveprinter` */
  static async start(options: readonly string[] = []): Promise<IppPrinter> {
    const folder = mkdtempSync(join(tmpdir(), "platen-ipp-"));
    const port = await freePort();
    const bus = `unix:path=${join(folder, "bus")}`;
    const quiet = ["--session", "--nofork", "--nopidfile", "--print-address"];
    const daemon = spawn("dbus-daemon", [...quiet, `--address=${bus}`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await new Promise((resolve, reject) => daemon.stdout.once("data", resolve).once("end", reject));
    const args = `-p ${port} -r off -n localhost -K ${folder} -d ${folder}`
      .split(" ")
      .concat(options, "Test");
    const env = { ...process.env, PATH: pathWithSystem, DBUS_SYSTEM_BUS_ADDRESS: bus };
    const service = spawn("ippeveprinter", args, { stdio: "ignore", env });
    const printer = new IppPrinter(port, folder, [daemon, service]);
    await printer.#waitUntilReady();
    return printer;
  }

  async #waitUntilReady(): Promise<void> {
    for (let tries = 0; tries < 200; tries++) {
      if (await acceptsConnection(this.port)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    this.close();
    throw new Error("ippeveprinter does not answer");
  }

  /** @returns the values that `ipptool` reads, by attribute name */
  readAttributes(): Map<string, string[]> {
    const args = ["-tv", `ipp://127.0.0.1:${this.port}/ipp/print`, "get-printer-attributes.test"];
    const text = execFileSync("ipptool", args, { encoding: "utf8" });
    const found = text.matchAll(/^ {8}([a-z][\w-]*) \((?:1setOf )?[\w-]+\) = (.*)$/gm);
    return new Map([...found].map(([, name = "", values = ""]) => [name, values.split(",")]));
  }

  close(): void {
    for (const each of this.#processes) each.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** PATH with /usr/sbin, where Debian installs `ippeveprinter`. */
export const pathWithSystem = `${process.env.PATH}:/usr/sbin`;

function acceptsConnection(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
