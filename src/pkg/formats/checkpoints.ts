import {
  blockBytes,
  chunkBytes,
  chunkCount,
  chunkSpan,
  type EncryptionKeys,
  encryptedChunkBytes,
  encryptSpan,
  type Plaintext,
  type Span,
} from "./encryption.ts";
import { PayloadDigests, type PayloadSums } from "./payload-digests.ts";

/** An encrypted beginning of a payload, from which payloads with the same beginning are encrypted further. */
export interface EncryptedPrefix {
  /** Plain bytes, a multiple of `blockBytes`. */
  readonly size: number;
  /** The cipher's state before each chunk that begins before `size`: 16 bytes per chunk. */
  readonly checkpoints: Uint8Array;
  /** The cipher's state at its end: 16 bytes. */
  readonly state: Uint8Array;
}

/** Sums that are needed before the first byte is sent, and the states from which each chunk can be encrypted again. */
export interface EncryptionInfo extends PayloadSums {
  /** The cipher's state before each chunk: 16 bytes per chunk. */
  readonly checkpoints: Uint8Array;
}

/** Rounds the number of common bytes down to whole cipher blocks. */
export function prefixSize(commonBytes: number): number {
  return Math.floor(commonBytes / blockBytes) * blockBytes;
}

/** Called after each chunk. @param usedBytes bytes of buffers that are no longer used */
type AfterChunk = (usedBytes: number) => void | Promise<void>;

/**
 * Encrypts and digests the first `size` bytes. Blocks for each chunk: call it in a worker thread.
 * @param size a multiple of `blockBytes`, less than the size of the plaintext
 */
export async function encryptPrefix(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  size: number,
  between?: AfterChunk,
): Promise<{ readonly prefix: EncryptedPrefix; readonly digests: PayloadDigests }> {
  const digests = PayloadDigests.begin(keys);
  if (size === 0) return { prefix: { size, checkpoints: new Uint8Array(), state: keys.iv }, digests };
  const whole = { start: 0, end: size };
  const encrypted = await encryptChunks(plaintext, keys, keys.iv, whole, digests, between);
  return { prefix: { size, ...encrypted }, digests };
}

/**
 * Encrypts everything after a prefix and finishes the digests.
 * @param digests of the prefix; they cannot be used afterwards
 */
export async function finishEncryption(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  prefix: EncryptedPrefix,
  digests: PayloadDigests,
  between?: AfterChunk,
): Promise<EncryptionInfo> {
  const own = { start: prefix.size, end: plaintext.layout.size };
  const rest = await encryptChunks(plaintext, keys, prefix.state, own, digests, between);
  const checkpoints = new Uint8Array(Buffer.concat([prefix.checkpoints, rest.checkpoints]));
  return { ...digests.finish(), checkpoints };
}

/** Encrypts and digests a span chunk by chunk. It records a checkpoint at the start of each chunk. */
async function encryptChunks(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  state: Uint8Array,
  whole: Span,
  digests: PayloadDigests,
  between: AfterChunk = () => {},
): Promise<Pick<EncryptedPrefix, "checkpoints" | "state">> {
  const checkpoints: Uint8Array[] = [];
  const plain = Buffer.allocUnsafeSlow(Math.min(chunkBytes, whole.end - whole.start));
  const encrypted = new Uint8Array(encryptedChunkBytes);
  let current = state;
  for (const span of chunkSpansOf(whole, plaintext.layout.size)) {
    if (span.start % chunkBytes === 0) checkpoints.push(current);
    const length = await encryptSpan(plaintext, keys, current, span, plain, encrypted);
    current = Uint8Array.from(encrypted.subarray(length - blockBytes, length));
    digests.update(plain.subarray(0, span.end - span.start), encrypted.subarray(0, length));
    await between(length);
  }
  return { checkpoints: new Uint8Array(Buffer.concat(checkpoints)), state: current };
}

/** Splits a span at chunk borders. A span up to the end of the file includes the last chunk, which may be empty. */
function* chunkSpansOf({ start, end }: Span, plainSize: number): Generator<Span> {
  const first = Math.floor(start / chunkBytes);
  const count = end === plainSize ? chunkCount(plainSize) : Math.ceil(end / chunkBytes);
  for (let index = first; index < count; index++) {
    const chunk = chunkSpan(index, plainSize);
    yield { start: Math.max(start, chunk.start), end: Math.min(end, chunk.end) };
  }
}
