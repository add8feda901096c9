import { createHash } from "node:crypto";
import { setPriority } from "node:os";
import { setImmediate } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import type { ByteSource, OpenFile } from "../domain/byte-source.ts";
import { RecentMap } from "../domain/collections.ts";
import { type ErrorCode, errorMessage, UserError } from "../domain/errors.ts";
import {
  type EncryptedPrefix,
  type EncryptionInfo,
  encryptPrefix,
  finishEncryption,
} from "../pkg/formats/checkpoints.ts";
import {
  type DigestedLayout,
  type DriverFolder,
  type LaidOutDrivers,
  layOut,
  layOutDrivers,
  type OwnContents,
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
import { renderWithSettings, type ScriptKind } from "../pkg/scripts/render.ts";
import { type SignedKind, scriptDigests } from "../pkg/scripts/signatures.ts";
import { type ArchiveEntry, readArchive } from "../pkg/zip/archive.ts";
import { fillFromLayout, type Layout, singleSourceLayout } from "../pkg/zip/layout.ts";
import { checkFileCount } from "../pkg/zip/zip.ts";
import { countUsedBuffers } from "./memory.ts";

export interface LaidOut {
  readonly layout: Layout;
  /** In the order of the layout's source numbers. The caller keeps them open until the task has settled. */
  readonly files: readonly OpenFile[];
}

/** A publish script with its digest. It may be large, so the worker thread also computes the digest. */
export interface PublishedScript {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  /** One for each part of the publication. */
  readonly states: readonly PublicationState[];
}

/** The tasks of a worker thread, with their inputs and outputs. */
export interface Tasks {
  /** Lays out the files of these drivers. The archives are in the same order. */
  layOutDrivers: {
    input: { drivers: readonly DriverFolder[]; archives: readonly OpenFile[] };
    output: LaidOutDrivers;
  };
  layOut: { input: { drivers: LaidOutDrivers; own: OwnContents }; output: DigestedLayout };
  /** Renders a script. `settings` is JSON. */
  renderScript: { input: { kind: ScriptKind; settings: string }; output: Uint8Array };
  /** SHA-256 of a deployment's scripts. `settings` is JSON. */
  scriptDigests: { input: { settings: string }; output: Record<SignedKind, string> };
  /** Renders a script that publishes to Intune. `records` are all records, even those that the script does not contain. */
  renderPublish: {
    input: { publication: Publication; records: Publication["records"] };
    output: PublishedScript;
  };
  /** SHA-256 of the file that a layout describes. */
  digest: { input: LaidOut; output: Uint8Array };
  /** SHA-256 of a whole file. Lowers the thread's priority, and does not restore it. */
  verify: { input: { file: OpenFile }; output: Uint8Array };
  /** Encrypts the first `size` bytes, whole blocks, and keeps their digests in this thread under `name`. */
  encryptPrefix: {
    input: LaidOut & { keys: EncryptionKeys; size: number; name: string };
    output: EncryptedPrefix;
  };
  /** Finishes the encryption after the prefix with this name. Encrypts the prefix again if its digests are gone. */
  finish: {
    input: LaidOut & { keys: EncryptionKeys; prefix: EncryptedPrefix; name: string };
    output: EncryptionInfo;
  };
  /** Encrypts at most a chunk into `encrypted`, which is in shared memory. The output is the number of filled bytes. */
  encrypt: {
    input: LaidOut & { keys: EncryptionKeys; state: Uint8Array; span: Span; encrypted: Uint8Array };
    output: number;
  };
}

export type TaskName = keyof Tasks;

export type TaskReply =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly code: ErrorCode | undefined; readonly message: string };

/** Makes an open file readable. A parameter, because `workers` may not import `store`. */
type OpenSource = (file: OpenFile) => ByteSource;

type Handlers = { readonly [K in TaskName]: (input: Tasks[K]["input"]) => Promise<Tasks[K]["output"]> };

function taskHandlers(open: OpenSource): Handlers {
  const plaintextOf = ({ layout, files }: LaidOut): Plaintext => ({ layout, sources: files.map(open) });
  // The digests of the most recently used prefixes. They stay in this thread, because hash objects cannot move to another one.
  const digests = new RecentMap<string, PayloadDigests>(maxKeptPrefixes);
  return {
    layOutDrivers: async ({ drivers, archives }) =>
      layOutDrivers(drivers, await packagedEntries(drivers, archives.map(open))),
    layOut: async ({ drivers, own }) => layOut(drivers, own),
    renderScript: async ({ kind, settings }) =>
      new Uint8Array(renderWithSettings(kind, JSON.parse(settings) as ScriptSettings)),
    scriptDigests: async ({ settings }) => scriptDigests(JSON.parse(settings) as ScriptSettings),
    renderPublish: async ({ publication, records }) => {
      const states = publication.parts.map((part) => publicationState(part, records));
      const bytes = new Uint8Array(renderPublishScript(publication, states));
      return { bytes, states, sha256: createHash("sha256").update(bytes).digest("hex") };
    },
    digest: (input) => digestOf(plaintextOf(input)),
    verify: ({ file }) => {
      lowerPriority(19);
      return digestOf({ layout: singleSourceLayout(file.size), sources: [open(file)] });
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
      const plain = spareBuffers.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
      try {
        return await encryptSpan(plaintextOf(input), keys, state, span, plain, encrypted);
      } finally {
        spareBuffers.push(plain);
        countUsedBuffers(span.end - span.start);
      }
    },
  };
}

/** Lets other tasks of the thread run between two chunks. */
async function betweenChunks(usedBytes: number): Promise<void> {
  countUsedBuffers(usedBytes);
  await setImmediate();
}

/** How many prefixes have digests in memory. Each takes a few hundred bytes, and 32 KB of checkpoints per gigabyte. */
export const maxKeptPrefixes = 512;

/**
 * The files of each archive that a package contains. Reads one archive after the other, and stops at more files than a
 * ZIP can contain, because each archive may have 60,000.
 */
async function packagedEntries(drivers: readonly DriverFolder[], sources: readonly ByteSource[]) {
  const wanted: (readonly ArchiveEntry[])[] = [];
  let count = 0;
  for (const [i, source] of sources.entries()) {
    const { entries } = await readArchive(source);
    const inf = drivers[i]?.onlyUsedBy;
    const used = inf === undefined ? entries : await usedEntries(source, entries, inf, countUsedBuffers);
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

/** Unused buffers for chunks of plaintext. */
const spareBuffers: Buffer[] = [];

/** Runs tasks in a worker thread until the thread is terminated. */
export function serveTasks(port: MessagePort, open: OpenSource): void {
  const handlers = taskHandlers(open);
  lowerPriority(4);
  port.on("message", ({ id, name, input }: { id: number; name: TaskName; input: unknown }) => {
    const handler = handlers[name] as (input: unknown) => Promise<unknown>;
    handler(input).then(
      (output) => port.postMessage({ id, output } satisfies TaskReply),
      (error: unknown) => {
        const code = error instanceof UserError ? error.code : undefined;
        port.postMessage({ id, code, message: errorMessage(error) } satisfies TaskReply);
      },
    );
  });
}

/** Lets page requests go first. Only on Linux, where the priority applies to the thread and not to the whole process. */
function lowerPriority(niceness: number): void {
  if (process.platform === "linux") setPriority(0, niceness);
}
