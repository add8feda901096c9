import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { bundle } from "./app.ts";
import { cleanUp } from "./clean-up.ts";

/** The bundled file at work in a process of its own. */
export interface Service {
  /** Empty where it did not start. */
  readonly url: string;
  readonly process: ChildProcess;
  readonly exited: Promise<number | null>;
  /** All that it printed so far. */
  readonly output: () => string;
}

/**
 * Runs the bundled file, copied alone into a folder, with its data below that.
 * @param shell a command of bash that comes first, such as a limit
 */
export async function serve(
  t: TestContext,
  folder: string,
  environment: Record<string, string> = {},
  shell?: string,
  args: readonly string[] = [],
): Promise<Service> {
  // Never over the one that another process in the folder is just reading.
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

/** The most memory that a process has had since its start, in bytes. */
export function peakMemory({ process: { pid } }: Service): number {
  return memoryLine(pid, "VmHWM");
}

/** The memory that a process has now, in bytes. */
export function memoryOf({ process: { pid } }: Service): number {
  return memoryLine(pid, "VmRSS");
}

function memoryLine(pid: number | undefined, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}
