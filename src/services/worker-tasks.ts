import { setPriority } from "node:os";
import type { MessagePort } from "node:worker_threads";
import type { ArchiveReport } from "../domain/driver.ts";
import { messageOf, type Problem, UserError } from "../domain/errors.ts";
import { chunkBytes, type Seal, type SealKeys, sealChunk } from "../pkg/intunewin.ts";
import type { Layout } from "../pkg/layout.ts";
import { type FileSource, openSourceBlocking } from "../store/files.ts";
import { authenticateHalf, encryptHalf, type Half } from "./first-pass.ts";
import { inspectArchive, reportOf } from "./inspect-archive.ts";
import { buffersUsed } from "./memory.ts";

/** A layout with the files that it takes its bytes from. */
export interface LaidOut {
  readonly layout: Layout;
  /** Paths, in the order of the layout's source numbers. */
  readonly files: readonly string[];
}

/** What a worker thread can be asked, and what it answers. */
export interface Tasks {
  inspect: { input: { path: string }; output: ArchiveReport };
  encrypt: { input: LaidOut & Half; output: Uint8Array };
  authenticate: { input: LaidOut & Half; output: Omit<Seal, "checkpoints"> };
  /** Fills `sealed`, which lies in shared memory, and answers how far. */
  seal: {
    input: LaidOut & { keys: SealKeys; state: Uint8Array; index: number; sealed: Uint8Array };
    output: number;
  };
}

export type TaskName = keyof Tasks;

export interface TaskRequest {
  readonly id: number;
  readonly name: TaskName;
  readonly input: unknown;
}

export type TaskReply =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly problem: Problem | undefined; readonly message: string };

const handlers: { [K in TaskName]: (input: Tasks[K]["input"]) => Promise<Tasks[K]["output"]> } = {
  inspect: ({ path }) =>
    withSources([path], async ([source]) => reportOf(await inspectArchive(present(source)))),
  encrypt: ({ files, ...half }) => withSources(files, (sources) => encryptHalf(half, sources)),
  authenticate: ({ files, ...half }) => withSources(files, (sources) => authenticateHalf(half, sources)),
  seal: ({ layout, files, keys, state, index, sealed }) =>
    withSources(files, async (sources) => {
      const plain = spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
      try {
        return await sealChunk(layout, sources, keys, state, index, plain, sealed);
      } finally {
        spare.push(plain);
        buffersUsed(chunkBytes);
      }
    }),
};

/** Rooms for plain chunks that no task is using. */
const spare: Buffer[] = [];

/** The worker thread's whole life: answers requests until it is told to end. */
export function serveTasks(port: MessagePort): void {
  // On Linux this is the thread's own priority: whoever asks for a page goes first.
  if (process.platform === "linux") setPriority(0, 4);
  port.on("message", (request: TaskRequest) => {
    const handler = handlers[request.name] as (input: unknown) => Promise<unknown>;
    handler(request.input).then(
      (output) => port.postMessage({ id: request.id, output } satisfies TaskReply),
      (error: unknown) => port.postMessage(failure(request.id, error)),
    );
  });
}

function failure(id: number, error: unknown): TaskReply {
  const problem = error instanceof UserError ? error.problem : undefined;
  return { id, problem, message: messageOf(error) };
}

async function withSources<T>(
  paths: readonly string[],
  use: (sources: FileSource[]) => Promise<T>,
): Promise<T> {
  const sources: FileSource[] = [];
  try {
    for (const path of paths) sources.push(openSourceBlocking(path));
    return await use(sources);
  } finally {
    await Promise.all(sources.map((source) => source.close()));
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a source is missing");
  return value;
}
