import { fillFromLayout } from "../zip/layout.ts";
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
  sliceBytes,
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

/** What takes each encrypted piece; its buffer is used again afterwards. */
interface PieceBuffers {
  /** A buffer for an encrypted chunk. */
  readonly next: () => Promise<Uint8Array>;
  /** Takes what was filled of it. */
  readonly done: (encrypted: Uint8Array, span: Span) => void | Promise<void>;
}

/**
 * Encrypts the first `size` bytes, one chunk after the other.
 * @param size a multiple of the cipher's block, less than the whole
 */
export async function encryptPrefix(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  size: number,
  buffers: PieceBuffers,
): Promise<EncryptedPrefix> {
  const whole = { start: 0, end: size };
  const nothing = { checkpoints: new Uint8Array(), state: keys.iv };
  const { checkpoints, state } =
    size === 0 ? nothing : await encryptPieces(plaintext, keys, keys.iv, whole, buffers);
  return { size, checkpoints, state };
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
): Promise<EncryptionInfo> {
  const own = { start: prefix.size, end: plaintext.layout.size };
  const rest = await encryptPieces(plaintext, keys, prefix.state, own, digesting(plaintext, digests));
  const checkpoints = new Uint8Array(prefix.checkpoints.length + rest.checkpoints.length);
  checkpoints.set(prefix.checkpoints);
  checkpoints.set(rest.checkpoints, prefix.checkpoints.length);
  return { ...digests.finish(), checkpoints };
}

/** The digests of a prefix, encrypted on this thread alone. */
export async function encryptPrefixAlone(plaintext: Plaintext, keys: EncryptionKeys, size: number) {
  const digests = PayloadDigests.begin(keys);
  await encryptPrefix(plaintext, keys, size, digesting(plaintext, digests));
  return digests;
}

/** Adds encrypted bytes to the digests, reading the plain ones again: in slices that a core's own cache holds. */
export async function addToDigests(
  { layout, sources }: Plaintext,
  digests: PayloadDigests,
  encrypted: Uint8Array,
  { start, end }: Span,
  plain: Uint8Array,
): Promise<void> {
  for (let at = 0; at < encrypted.length; at += sliceBytes) {
    const from = start + at;
    const slice = plain.subarray(0, Math.max(0, Math.min(sliceBytes, end - from)));
    await fillFromLayout(layout, sources, Math.min(from, end), slice);
    digests.update(slice, encrypted.subarray(at, at + sliceBytes));
  }
}

function digesting(plaintext: Plaintext, digests: PayloadDigests): PieceBuffers {
  const buffer = new Uint8Array(encryptedChunkBytes);
  const plain = new Uint8Array(sliceBytes);
  return {
    next: async () => buffer,
    done: (encrypted, span) => addToDigests(plaintext, digests, encrypted, span, plain),
  };
}

/** Encrypts a span, each chunk by itself; a checkpoint is taken wherever a chunk begins. */
async function encryptPieces(
  plaintext: Plaintext,
  keys: EncryptionKeys,
  state: Uint8Array,
  whole: Span,
  { next, done }: PieceBuffers,
): Promise<{ readonly checkpoints: Uint8Array; readonly state: Uint8Array }> {
  const spans = chunkSpansOf(whole, plaintext.layout.size);
  const checkpoints: Uint8Array[] = [];
  const plain = Buffer.allocUnsafeSlow(Math.min(chunkBytes, whole.end - whole.start));
  let current = state;
  for (const span of spans) {
    if (span.start % chunkBytes === 0) checkpoints.push(current);
    const buffer = await next();
    const length = await encryptSpan(plaintext, keys, current, span, plain, buffer);
    current = Uint8Array.from(buffer.subarray(length - blockBytes, length));
    await done(buffer.subarray(0, length), span);
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
