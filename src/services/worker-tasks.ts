import type { MessagePort } from "node:worker_threads";
import type { ArchiveReport } from "../domain/driver.ts";
import { messageOf, type Problem, UserError } from "../domain/errors.ts";
import { authenticate, digestLayout, type Seal, type SealKeys, sealChunk } from "../pkg/intunewin.ts";
import type { Layout } from "../pkg/layout.ts";
import { type FileSource, openSource } from "../store/files.ts";
import { inspectArchive, reportOf } from "./inspect-archive.ts";

/** A layout with the files that it takes its bytes from. */
export interface LaidOut {
  readonly layout: Layout;
  /** Paths, in the order of the layout's source numbers. */
  readonly files: readonly string[];
}

/** What a worker thread can be asked, and what it answers. */
export interface Tasks {
  inspect: { input: { path: string }; output: ArchiveReport };
  authenticate: { input: LaidOut & { keys: SealKeys }; output: Omit<Seal, "digest"> };
  digest: { input: LaidOut; output: Uint8Array };
  seal: { input: LaidOut & { keys: SealKeys; state: Uint8Array; index: number }; output: Uint8Array };
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
  authenticate: ({ layout, files, keys }) =>
    withSources(files, (sources) => authenticate(layout, sources, keys)),
  digest: ({ layout, files }) => withSources(files, (sources) => digestLayout(layout, sources)),
  seal: ({ layout, files, keys, state, index }) =>
    withSources(files, (sources) => sealChunk(layout, sources, keys, state, index)),
};

/** The worker thread's whole life: answers requests until it is told to end. */
export function serveTasks(port: MessagePort): void {
  port.on("message", (request: TaskRequest) => {
    const handler = handlers[request.name] as (input: unknown) => Promise<unknown>;
    handler(request.input).then(
      (output) => port.postMessage({ id: request.id, output } satisfies TaskReply, transferable(output)),
      (error: unknown) => port.postMessage(failure(request.id, error)),
    );
  });
}

/** A large buffer of its own is handed over instead of copied. */
function transferable(output: unknown): ArrayBuffer[] {
  if (!(output instanceof Uint8Array) || !(output.buffer instanceof ArrayBuffer)) return [];
  return output.byteLength === output.buffer.byteLength && output.byteLength > 16384 ? [output.buffer] : [];
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
    for (const path of paths) sources.push(await openSource(path));
    return await use(sources);
  } finally {
    await Promise.all(sources.map((source) => source.close()));
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a source is missing");
  return value;
}
