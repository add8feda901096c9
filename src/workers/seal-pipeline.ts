import { on } from "node:events";
import type { MessagePort } from "node:worker_threads";
import { addToDigests, type EncryptedPrefix, encryptPrefix } from "../pkg/formats/checkpoints.ts";
import {
  type EncryptionKeys,
  encryptedChunkBytes,
  type Plaintext,
  type Span,
  sliceBytes,
} from "../pkg/formats/encryption.ts";
import { PayloadDigests } from "../pkg/formats/payload-digests.ts";
import { buffersUsed } from "./memory.ts";

/**
 * Encrypting the beginning of a payload and digesting it, on two threads: one encrypts into buffers of shared memory,
 * the other digests what stands in them and sends them back. Both hold one end of a channel. The encrypting thread ends
 * with `end`. Whichever fails, or is ended, closes its end of the channel: the other then fails, too.
 */
type Filled = { readonly encrypted: Uint8Array; readonly span: Span } | "end";

const bufferCount = 4;

/** What each of the two threads is given. */
export interface PipelineSide {
  readonly keys: EncryptionKeys;
  /** Plain bytes, a multiple of the cipher's block. */
  readonly size: number;
  readonly port: MessagePort;
}

/** The encrypting thread. */
export async function runEncryption(
  { keys, size, port }: PipelineSide,
  plaintext: Plaintext,
): Promise<EncryptedPrefix> {
  const free = Array.from({ length: bufferCount }, sharedBuffer);
  const returned = messagesFrom<Uint8Array>(port);
  const next = async () => {
    const buffer = free.pop() ?? (await returned.next()).value?.[0];
    if (buffer === undefined) throw otherEnded();
    return buffer;
  };
  const done = (encrypted: Uint8Array, span: Span) => {
    buffersUsed(encrypted.length);
    port.postMessage({ encrypted, span } satisfies Filled);
  };
  try {
    const prefix = await encryptPrefix(plaintext, keys, size, { next, done });
    port.postMessage("end" satisfies Filled);
    return prefix;
  } finally {
    close(port);
  }
}

/** The digesting thread: the digests of the beginning. */
export async function runDigests(
  { keys, port }: PipelineSide,
  plaintext: Plaintext,
): Promise<PayloadDigests> {
  const digests = PayloadDigests.begin(keys);
  const plain = new Uint8Array(sliceBytes);
  try {
    for await (const [filled] of messagesFrom<Filled>(port)) {
      if (filled === "end") return digests;
      await addToDigests(plaintext, digests, filled.encrypted, filled.span, plain);
      port.postMessage(new Uint8Array(filled.encrypted.buffer));
    }
    throw otherEnded();
  } finally {
    close(port);
  }
}

function sharedBuffer(): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(encryptedChunkBytes));
}

/** Ends where the other thread has closed its end. */
function messagesFrom<T>(port: MessagePort): AsyncIterableIterator<[T]> {
  return on(port, "message", { close: ["close"] }) as AsyncIterableIterator<[T]>;
}

/** The last messages still have to arrive. */
function close(port: MessagePort): void {
  setImmediate(() => port.close());
}

function otherEnded(): Error {
  return new Error("the other thread of an encryption ended");
}
