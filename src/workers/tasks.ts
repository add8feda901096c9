import { createHash } from "node:crypto";
import { setPriority } from "node:os";
import type { MessagePort } from "node:worker_threads";
import type { ByteSource, OpenFile } from "../domain/byte-source.ts";
import { messageOf, type Problem, UserError } from "../domain/errors.ts";
import { type ContentsData, type Described, layOut } from "../pkg/formats/contents.ts";
import { chunkBytes, type Seal, type SealKeys, sealChunk } from "../pkg/formats/intunewin.ts";
import { type Archive, readArchive } from "../pkg/zip/archive.ts";
import { fillFromLayout, type Layout, wholeOf } from "../pkg/zip/layout.ts";
import { checkFileCount } from "../pkg/zip/zip.ts";
import { buffersUsed } from "./memory.ts";
import { authenticateHalf, encryptHalf, type Half } from "./seal-pipeline.ts";

/** A layout with the files that it takes its bytes from. */
export interface LaidOut {
  readonly layout: Layout;
  /** In the order of the layout's source numbers. They stay open until the task has settled. */
  readonly files: readonly OpenFile[];
}

/** What a worker thread can be asked, and what it answers. */
export interface Tasks {
  /** Lays out a ZIP of these archives, which are the contents' drivers in their order. */
  layout: { input: { contents: ContentsData; archives: readonly OpenFile[] }; output: Described };
  /** SHA-256 of a whole layout. */
  digest: { input: LaidOut; output: Uint8Array };
  /** SHA-256 of a whole file, at the lowest priority: the thread never leaves it again. */
  verify: { input: { file: OpenFile }; output: Uint8Array };
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

/** How an open file is read; whoever starts the thread knows. */
type Open = (file: OpenFile) => ByteSource;

type Handlers = { readonly [K in TaskName]: (input: Tasks[K]["input"]) => Promise<Tasks[K]["output"]> };

const handlersWith = (open: Open): Handlers => ({
  layout: async ({ contents, archives }) => layOut(contents, await readAll(archives.map(open))),
  digest: ({ layout, files }) => digestOf(layout, files.map(open)),
  verify: ({ file }) => {
    lowerPriority(19);
    return digestOf(wholeOf(file.size), [open(file)]);
  },
  encrypt: ({ files, ...half }) => encryptHalf(half, files.map(open)),
  authenticate: ({ files, ...half }) => authenticateHalf(half, files.map(open)),
  seal: async ({ layout, files, keys, state, index, sealed }) => {
    const plain = spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
    try {
      return await sealChunk(layout, files.map(open), keys, state, index, plain, sealed);
    } finally {
      spare.push(plain);
      buffersUsed(chunkBytes);
    }
  },
});

/** One after the other, and no more of them than one package can hold: each may have 60,000 files. */
async function readAll(sources: readonly ByteSource[]): Promise<Archive[]> {
  const archives: Archive[] = [];
  let count = 0;
  for (const source of sources) {
    const archive = await readArchive(source);
    count += archive.entries.length;
    checkFileCount(count);
    archives.push(archive);
  }
  return archives;
}

async function digestOf(layout: Layout, sources: readonly ByteSource[]): Promise<Uint8Array> {
  const hash = createHash("sha256");
  const room = Buffer.allocUnsafeSlow(chunkBytes);
  for (let at = 0; at < layout.size; at += chunkBytes) {
    const piece = room.subarray(0, Math.min(chunkBytes, layout.size - at));
    await fillFromLayout(layout, sources, at, piece);
    hash.update(piece);
  }
  return new Uint8Array(hash.digest());
}

/** Rooms for plain chunks that no task is using. */
const spare: Buffer[] = [];

/** The worker thread's whole life: answers requests until it is told to end. */
export function serveTasks(port: MessagePort, open: Open): void {
  const handlers = handlersWith(open);
  lowerPriority(4);
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

/** On Linux this is the thread's own priority: whoever asks for a page goes first. */
function lowerPriority(niceness: number): void {
  if (process.platform === "linux") setPriority(0, niceness);
}
