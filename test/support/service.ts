import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { bundle } from "./app.ts";
import { cleanUp } from "./clean-up.ts";

/** The bundled service in its own process. */
interface Service {
  /** Empty if it did not start. */
  readonly url: string;
  readonly process: ChildProcess;
  readonly exited: Promise<number | null>;
  /** Everything that it has printed so far. */
  readonly output: () => string;
}

/**
 * Copies the bundled file into a folder and runs it there, with its data in that folder.
 * @param shell a bash command that runs first, such as `ulimit`
 */
export async function serve(
  t: TestContext,
  folder: string,
  environment: Record<string, string> = {},
  shell?: string,
  args: readonly string[] = [],
): Promise<Service> {
  // An existing copy stays: another process in the folder may be reading it.
  if (!existsSync(join(folder, "platen.cjs"))) copyFileSync(bundle, join(folder, "platen.cjs"));
  const env = { PATH: process.env.PATH ?? "", PORT: "0", HOST: "127.0.0.1", ...environment };
  const child = shell
    ? spawn("bash", ["-c", `${shell}; exec "${process.execPath}" platen.cjs ${args.join(" ")}`], {
        cwd: folder,
        env,
      })
    : spawn(process.execPath, ["platen.cjs", ...args], { cwd: folder, env });
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  cleanUp(t, () => {
    child.kill("SIGKILL");
    return exited;
  });
  let text = "";
  const url = await new Promise<string>((resolve) => {
    const take = (chunk: string) => {
      text += chunk;
      const port = /localhost:(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    void exited.then(() => resolve(""));
  });
  return { url, process: child, exited, output: () => text };
}

/** The peak memory of a process since its start, in bytes. */
export function peakMemory({ process: { pid } }: Service): number {
  return memoryLine(pid, "VmHWM");
}

/** The current memory of a process, in bytes. */
export function memoryOf({ process: { pid } }: Service): number {
  return memoryLine(pid, "VmRSS");
}

function memoryLine(pid: number | undefined, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}
