import { createHash } from "node:crypto";
import { setPriority } from "node:os";
import { setImmediate } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import type { ByteSource, OpenFile } from "../domain/byte-source.ts";
import { RecentMap } from "../domain/collections.ts";
import { type ErrorCode, messageOf, UserError } from "../domain/errors.ts";
import {
  type EncryptedPrefix,
  type EncryptionInfo,
  encryptPrefix,
  finishEncryption,
} from "../pkg/formats/checkpoints.ts";
import {
  type Described,
  type DriverFolder,
  type LaidOutDrivers,
  layOut,
  layOutDrivers,
  type PackageTail,
  prepareScripts,
} from "../pkg/formats/contents.ts";
import {
  chunkBytes,
  type EncryptionKeys,
  encryptSpan,
  type Plaintext,
  type Span,
} from "../pkg/formats/encryption.ts";
import type { PayloadDigests } from "../pkg/formats/payload-digests.ts";
import { usedEntries } from "../pkg/formats/used-entries.ts";
import type { ScriptSettings } from "../pkg/scripts/deployment.ts";
import {
  type Publication,
  type PublicationState,
  publicationState,
  renderPublishScript,
} from "../pkg/scripts/publish-script.ts";
import { renderSettings, type ScriptKind } from "../pkg/scripts/render.ts";
import { type ArchiveEntry, readArchive } from "../pkg/zip/archive.ts";
import { fillFromLayout, type Layout, wholeOf } from "../pkg/zip/layout.ts";
import { checkFileCount } from "../pkg/zip/zip.ts";
import { buffersUsed } from "./memory.ts";

/** A layout with the files that it takes its bytes from. */
export interface LaidOut {
  readonly layout: Layout;
  /** In the order of the layout's source numbers. They stay open until the task has settled. */
  readonly files: readonly OpenFile[];
}

/** A script that may be large: what names it is made where it is made. */
export interface PublishedScript {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly state: PublicationState;
}

/** What a worker thread can be asked, and what it answers. */
export interface Tasks {
  /** Lays out the files of these drivers, whose archives are in the same order. */
  layOutDrivers: {
    input: { drivers: readonly DriverFolder[]; archives: readonly OpenFile[] };
    output: LaidOutDrivers;
  };
  /** Lays out a ZIP that begins with these drivers. */
  layOut: { input: { drivers: LaidOutDrivers; end: PackageTail }; output: Described };
  /** A script of these settings, which are given as JSON. */
  renderScript: { input: { kind: ScriptKind; settings: string }; output: Uint8Array };
  /** A script that puts packages into Intune, its SHA-256 in hex, and what it was made of, in short. */
  renderPublish: {
    input: { publication: Publication; records: Publication["records"] };
    output: PublishedScript;
  };
  /** SHA-256 of a whole layout. */
  digest: { input: LaidOut; output: Uint8Array };
  /** SHA-256 of a whole file, at the lowest priority: the thread never leaves it again. */
  verify: { input: { file: OpenFile }; output: Uint8Array };
  /** Encrypts the first `size` bytes, whole blocks, and keeps their digests in this thread under a name. */
  encryptPrefix: {
    input: LaidOut & { keys: EncryptionKeys; size: number; name: string };
    output: EncryptedPrefix;
  };
  /** Ends what was begun under this name; begins by itself where the thread does not know it. */
  finish: {
    input: LaidOut & { keys: EncryptionKeys; prefix: EncryptedPrefix; name: string };
    output: EncryptionInfo;
  };
  /** Encrypts at most a chunk into `encrypted`, which lies in shared memory, and answers how far that is filled. */
  encrypt: {
    input: LaidOut & { keys: EncryptionKeys; state: Uint8Array; span: Span; encrypted: Uint8Array };
    output: number;
  };
}

export type TaskName = keyof Tasks;

interface TaskRequest {
  readonly id: number;
  readonly name: TaskName;
  readonly input: unknown;
}

export type TaskReply =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly code: ErrorCode | undefined; readonly message: string };

/** How an open file is read; whoever starts the thread knows. */
type Open = (file: OpenFile) => ByteSource;

type Handlers = { readonly [K in TaskName]: (input: Tasks[K]["input"]) => Promise<Tasks[K]["output"]> };

function handlersWith(open: Open): Handlers {
  const plaintextOf = ({ layout, files }: LaidOut): Plaintext => ({ layout, sources: files.map(open) });
  // Of the beginnings of payloads, those that were used last: they cannot leave their thread.
  const digests = new RecentMap<string, PayloadDigests>(keptPrefixes);
  return {
    layOutDrivers: async ({ drivers, archives }) =>
      layOutDrivers(drivers, await wantedEntries(drivers, archives.map(open))),
    layOut: async ({ drivers, end }) => layOut(drivers, end),
    renderScript: async ({ kind, settings }) =>
      new Uint8Array(renderSettings(kind, JSON.parse(settings) as ScriptSettings)),
    renderPublish: async ({ publication, records }) => {
      const state = publicationState(publication, records);
      const bytes = new Uint8Array(renderPublishScript(publication, state));
      return { bytes, state, sha256: createHash("sha256").update(bytes).digest("hex") };
    },
    digest: (input) => digestOf(plaintextOf(input)),
    verify: ({ file }) => {
      lowerPriority(19);
      return digestOf({ layout: wholeOf(file.size), sources: [open(file)] });
    },
    encryptPrefix: async (input) => {
      const { keys, size, name } = input;
      const begun = await encryptPrefix(plaintextOf(input), keys, size, betweenChunks);
      digests.set(name, begun.digests);
      prepareScripts();
      return begun.prefix;
    },
    finish: async (input) => {
      const { keys, prefix, name } = input;
      const plaintext = plaintextOf(input);
      const begun =
        digests.get(name) ?? (await encryptPrefix(plaintext, keys, prefix.size, betweenChunks)).digests;
      digests.set(name, begun);
      return finishEncryption(plaintext, keys, prefix, begun.copy(), betweenChunks);
    },
    encrypt: async (input) => {
      const { keys, state, span, encrypted } = input;
      const plain = spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
      try {
        return await encryptSpan(plaintextOf(input), keys, state, span, plain, encrypted);
      } finally {
        spare.push(plain);
        buffersUsed(span.end - span.start);
      }
    },
  };
}

/** Other tasks of the thread go on between two chunks. */
async function betweenChunks(usedBytes: number): Promise<void> {
  buffersUsed(usedBytes);
  await setImmediate();
}

/** Beginnings of payloads that are remembered, a few hundred bytes each, and their checkpoints: 32 KB a gigabyte. */
export const keptPrefixes = 512;

/** One after the other, and no more files than one package can hold: each may have 60,000. */
async function wantedEntries(drivers: readonly DriverFolder[], sources: readonly ByteSource[]) {
  const wanted: (readonly ArchiveEntry[])[] = [];
  let count = 0;
  for (const [i, source] of sources.entries()) {
    const { entries } = await readArchive(source);
    const inf = drivers[i]?.onlyUsedBy;
    const used = inf === undefined ? entries : await usedEntries(source, entries, inf, buffersUsed);
    count += used.length;
    checkFileCount(count);
    wanted.push(used);
  }
  return wanted;
}

async function digestOf({ layout, sources }: Plaintext): Promise<Uint8Array> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  for (let at = 0; at < layout.size; at += chunkBytes) {
    const piece = buffer.subarray(0, Math.min(chunkBytes, layout.size - at));
    await fillFromLayout(layout, sources, at, piece);
    hash.update(piece);
  }
  return new Uint8Array(hash.digest());
}

/** Buffers for plain chunks that no task is using. */
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
  const code = error instanceof UserError ? error.code : undefined;
  return { id, code, message: messageOf(error) };
}

/** On Linux this is the thread's own priority: whoever asks for a page goes first. */
function lowerPriority(niceness: number): void {
  if (process.platform === "linux") setPriority(0, niceness);
}
