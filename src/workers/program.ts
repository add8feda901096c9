import { type ChildProcess, fork, spawn } from "node:child_process";
import { getAsset, isSea } from "node:sea";
import { Worker, type WorkerOptions } from "node:worker_threads";

// The program starts itself again as threads and processes. Usually it is a file. In a single executable (Node's SEA) there
// is no file: `release.mjs` adds the same program to the executable as this asset.
const asset = "platen.cjs";

/** @param script the bundled file, whose entry is `main.ts` */
export function startThread(script: string, options: WorkerOptions): Worker {
  return isSea()
    ? new Worker(getAsset(asset, "utf8"), { ...options, eval: true })
    : new Worker(script, options);
}

/**
 * Starts a process with a channel for messages, and nothing else of this process.
 * @param script the bundled file, whose entry is `main.ts`
 * @param nodeOptions of Node and V8
 */
export function startProcess(
  script: string,
  args: readonly string[],
  nodeOptions: readonly string[],
): ChildProcess {
  const stdio = ["ignore", "ignore", "ignore", "ipc"] as const;
  // An executable takes all its arguments for the program's.
  return isSea()
    ? spawn(process.execPath, args, { stdio: [...stdio], env: { NODE_OPTIONS: nodeOptions.join(" ") } })
    : fork(script, args, { execArgv: [...nodeOptions], stdio: [...stdio], env: {} });
}
