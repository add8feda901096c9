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

/** What encrypting the beginning of a payload leaves behind, so that others with the same beginning go on there. */
export interface EncryptedPrefix {
  /** Plain bytes, a multiple of the cipher's block. */
  readonly size: number;
  /** The cipher's state before each chunk that begins in front of `size`: 16 bytes a chunk. */
  readonly checkpoints: Uint8Array;
  /** The cipher's state behind it. */
  readonly state: Uint8Array;
}

/** All that has to be known of a payload before its first byte is sent, and to encrypt it again piece by piece. */
export interface EncryptionInfo extends PayloadSums {
  /** The cipher's state before each chunk: 16 bytes a chunk. */
  readonly checkpoints: Uint8Array;
}

/** Where the bytes that payloads have in common end, in whole blocks. */
export function prefixSize(commonBytes: number): number {
  return Math.floor(commonBytes / blockBytes) * blockBytes;
}

/** Is called behind each chunk with the bytes of buffers that are done with. */
type Between = (usedBytes: number) => void | Promise<void>;

/**
 * Encrypts and digests the first `size` bytes. Blocks for each chunk: call it in a worker thread.
 * @param size a multiple of the cipher's block, less than the whole
 */
export async function encryptPrefix(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  size: number,
  between?: Between,
): Promise<{ readonly prefix: EncryptedPrefix; readonly digests: PayloadDigests }> {
  const digests = PayloadDigests.begin(keys);
  if (size === 0) return { prefix: { size, checkpoints: new Uint8Array(), state: keys.iv }, digests };
  const whole = { start: 0, end: size };
  const encrypted = await encryptChunks(plaintext, keys, keys.iv, whole, digests, between);
  return { prefix: { size, ...encrypted }, digests };
}

/**
 * Encrypts what stands behind a prefix, and ends the digests.
 * @param digests of the prefix; they are used up
 */
export async function finishEncryption(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  prefix: EncryptedPrefix,
  digests: PayloadDigests,
  between?: Between,
): Promise<EncryptionInfo> {
  const own = { start: prefix.size, end: plaintext.layout.size };
  const rest = await encryptChunks(plaintext, keys, prefix.state, own, digests, between);
  const checkpoints = new Uint8Array(Buffer.concat([prefix.checkpoints, rest.checkpoints]));
  return { ...digests.finish(), checkpoints };
}

/** Encrypts a span, each chunk by itself, and digests it; a checkpoint is taken wherever a chunk begins. */
async function encryptChunks(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  state: Uint8Array,
  whole: Span,
  digests: PayloadDigests,
  between: Between = () => {},
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

/** The parts of a span that fall into each chunk. What reaches the file's end has its last chunk, even an empty one. */
function* chunkSpansOf({ start, end }: Span, plainSize: number): Generator<Span> {
  const first = Math.floor(start / chunkBytes);
  const count = end === plainSize ? chunkCount(plainSize) : Math.ceil(end / chunkBytes);
  for (let index = first; index < count; index++) {
    const chunk = chunkSpan(index, plainSize);
    yield { start: Math.max(start, chunk.start), end: Math.min(end, chunk.end) };
  }
}
