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

/** The result of encrypting the beginning of a payload. Payloads with the same beginning continue from it. */
export interface EncryptedPrefix {
  /** Number of plain bytes, a multiple of `blockBytes`. */
  readonly size: number;
  /** The cipher's state before each chunk that begins before `size`: 16 bytes per chunk. */
  readonly checkpoints: Uint8Array;
  /** The cipher's state after the last block: 16 bytes. */
  readonly state: Uint8Array;
}

/**
 * The result of encrypting a payload once. A download needs the sums before it sends its first byte, and encrypts each
 * chunk again from the chunk's checkpoint.
 */
export interface EncryptionInfo extends PayloadSums {
  /** The cipher's state before each chunk: 16 bytes per chunk. */
  readonly checkpoints: Uint8Array;
}

/** The number of bytes that several payloads have in common, rounded down to whole cipher blocks. */
export function prefixSize(commonBytes: number): number {
  return Math.floor(commonBytes / blockBytes) * blockBytes;
}

/** @param garbageBytes the size of buffers that are no longer used */
type AfterChunk = (garbageBytes: number) => void | Promise<void>;

/**
 * Encrypts and digests the first `size` bytes. It blocks the thread during each chunk: call it in a worker thread.
 * @param size a multiple of `blockBytes`, less than the size of the plaintext
 */
export async function encryptPrefix(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  size: number,
  afterChunk?: AfterChunk,
): Promise<{ readonly prefix: EncryptedPrefix; readonly digests: PayloadDigests }> {
  const digests = PayloadDigests.begin(keys);
  if (size === 0) return { prefix: { size, checkpoints: new Uint8Array(), state: keys.iv }, digests };
  const range = { start: 0, end: size };
  const encrypted = await encryptChunks(plaintext, keys, keys.iv, range, digests, afterChunk);
  return { prefix: { size, ...encrypted }, digests };
}

/**
 * Encrypts everything after a prefix and finishes the digests.
 * @param digests of the prefix. The function finishes them: pass a copy to use them again.
 */
export async function finishEncryption(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  prefix: EncryptedPrefix,
  digests: PayloadDigests,
  afterChunk?: AfterChunk,
): Promise<EncryptionInfo> {
  const range = { start: prefix.size, end: plaintext.layout.size };
  const rest = await encryptChunks(plaintext, keys, prefix.state, range, digests, afterChunk);
  const checkpoints = new Uint8Array(Buffer.concat([prefix.checkpoints, rest.checkpoints]));
  return { ...digests.finish(), checkpoints };
}

/** Encrypts and digests a range of bytes, chunk by chunk. It records a checkpoint at the start of each chunk. */
async function encryptChunks(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  state: Uint8Array,
  range: Span,
  digests: PayloadDigests,
  afterChunk: AfterChunk = () => {},
): Promise<Pick<EncryptedPrefix, "checkpoints" | "state">> {
  const checkpoints: Uint8Array[] = [];
  const plain = Buffer.allocUnsafeSlow(Math.min(chunkBytes, range.end - range.start));
  const encrypted = new Uint8Array(encryptedChunkBytes);
  let current = state;
  for (const span of chunkSpansOf(range, plaintext.layout.size)) {
    if (span.start % chunkBytes === 0) checkpoints.push(current);
    const length = await encryptSpan(plaintext, keys, current, span, plain, encrypted);
    // In CBC mode, the last encrypted block is the cipher's state.
    current = Uint8Array.from(encrypted.subarray(length - blockBytes, length));
    digests.update(plain.subarray(0, span.end - span.start), encrypted.subarray(0, length));
    await afterChunk(length);
  }
  return { checkpoints: new Uint8Array(Buffer.concat(checkpoints)), state: current };
}

/** Splits a range at chunk borders. A range up to the end of the file includes the last chunk, which may be empty. */
function* chunkSpansOf({ start, end }: Span, plainSize: number): Generator<Span> {
  const first = Math.floor(start / chunkBytes);
  const count = end === plainSize ? chunkCount(plainSize) : Math.ceil(end / chunkBytes);
  for (let index = first; index < count; index++) {
    const chunk = chunkSpan(index, plainSize);
    yield { start: Math.max(start, chunk.start), end: Math.min(end, chunk.end) };
  }
}
