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
 * the other digests what stands in them. Both hold one end of a channel, and the buffers' numbers go around:
 *
 *     encrypting thread                                digesting thread
 *     free ──► being filled ── filled ──────────────► being digested
 *      ▲                                                     │
 *      └───────────────────── free ──────────────────────────┘
 *
 * The encrypting thread ends with `end`, upon which the digesting one has all. Whichever fails sends `failed`, or
 * closes its end of the channel by ending: the other then fails too, so nobody waits for a buffer that never comes.
 */
type Message =
  | { readonly kind: "filled"; readonly buffer: number; readonly length: number; readonly span: Span }
  | { readonly kind: "free"; readonly buffer: number }
  | { readonly kind: "end" }
  | { readonly kind: "failed" };

const bufferCount = 4;

/** The shared buffers between the two threads. */
export function pipelineBuffers(): Uint8Array[] {
  return Array.from(
    { length: bufferCount },
    () => new Uint8Array(new SharedArrayBuffer(encryptedChunkBytes)),
  );
}

/** What each of the two threads is given. */
export interface PipelineSide {
  readonly keys: EncryptionKeys;
  /** Plain bytes, a multiple of the cipher's block. */
  readonly size: number;
  readonly buffers: readonly Uint8Array[];
  readonly port: MessagePort;
}

/** The encrypting thread. */
export function runEncryption(
  { keys, size, buffers, port }: PipelineSide,
  plaintext: Plaintext,
): Promise<EncryptedPrefix> {
  const queue = new MessageQueue(port);
  const free = buffers.map((_, buffer) => buffer);
  let filling = 0;
  const next = async () => {
    filling = free.pop() ?? (await queue.next("free")).buffer;
    return bufferAt(buffers, filling);
  };
  const done = ({ length }: Uint8Array, span: Span) => {
    buffersUsed(length);
    send(port, { kind: "filled", buffer: filling, length, span });
  };
  return closing(port, async () => {
    const prefix = await encryptPrefix(plaintext, keys, size, { next, done });
    send(port, { kind: "end" });
    return prefix;
  });
}

/** The digesting thread: the digests of the beginning. */
export function runDigests(
  { keys, buffers, port }: PipelineSide,
  plaintext: Plaintext,
): Promise<PayloadDigests> {
  const queue = new MessageQueue(port);
  const digests = PayloadDigests.begin(keys);
  const plain = new Uint8Array(sliceBytes);
  return closing(port, async () => {
    for (;;) {
      const message = await queue.next("filled", "end");
      if (message.kind === "end") return digests;
      const encrypted = bufferAt(buffers, message.buffer).subarray(0, message.length);
      await addToDigests(plaintext, digests, encrypted, message.span, plain);
      send(port, { kind: "free", buffer: message.buffer });
    }
  });
}

function send(port: MessagePort, message: Message): void {
  port.postMessage(message);
}

async function closing<T>(port: MessagePort, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    send(port, { kind: "failed" });
    throw error;
  } finally {
    // The last messages still have to arrive.
    setImmediate(() => port.close());
  }
}

/** Messages that came, and who waits for the next one. */
class MessageQueue {
  readonly #messages: Message[] = [];
  #wake: (() => void) | undefined;

  constructor(port: MessagePort) {
    const push = (message: Message) => {
      this.#messages.push(message);
      this.#wake?.();
    };
    port.on("message", push);
    port.on("close", () => push({ kind: "failed" }));
  }

  /** The next message, which is of one of these kinds. @throws Error when the other thread failed */
  async next<K extends Message["kind"]>(...kinds: K[]): Promise<Extract<Message, { kind: K }>> {
    while (this.#messages.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const message = this.#messages.shift();
    const isExpected = (found?: Message): found is Extract<Message, { kind: K }> =>
      kinds.some((kind) => kind === found?.kind);
    if (isExpected(message)) return message;
    throw new Error(`the other thread of an encryption sent “${message?.kind}”`);
  }
}

function bufferAt(buffers: readonly Uint8Array[], number: number): Uint8Array {
  const buffer = buffers[number];
  if (buffer === undefined) throw new Error(`there is no buffer ${number}`);
  return buffer;
}
