import { UserError } from "./errors.ts";

/** What a check needs of zlib, which this layer does not import. */
export interface PngTools {
  /** As `zlib.crc32`. */
  crc32(data: Uint8Array): number;
  /**
   * Inflates a whole zlib stream (RFC 1950), its checksum included.
   * @returns the bytes, and how many bytes of `data` the stream had
   * @throws when it is broken, or longer than `limit` bytes
   */
  inflate(data: Uint8Array, limit: number): { readonly bytes: Uint8Array; readonly used: number };
}

/** In pixels. */
interface PngSize {
  readonly width: number;
  readonly height: number;
}

interface Header extends PngSize {
  /** Bits of a sample, or of an index into the palette. */
  readonly depth: number;
  readonly colour: number;
  readonly isInterlaced: boolean;
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Encoders write a few dozen; each costs time whatever it holds. */
const chunkLimit = 4096;

export function hasPngSignature(bytes: Buffer): boolean {
  return bytes.subarray(0, 8).equals(signature);
}

/**
 * Checks a PNG as the specification (ISO/IEC 15948) lays it out: the chunks, their order and checksums,
 * and that the picture data unpacks to exactly the rows that the header announces. What ancillary chunks
 * hold is nobody's business here.
 * @param wanted any other size is not unpacked: the caller refuses it
 * @throws UserError "invalid" that says what is wrong, ending with `remedy`
 */
export function checkPng(bytes: Buffer, wanted: PngSize, tools: PngTools, remedy: string): PngSize {
  const problem = (why: string) => new UserError("invalid", `This PNG is damaged: ${why}. ${remedy}`);
  const chunks = readChunks(bytes, tools, problem);
  const header = readHeader(chunks[0], problem);
  const flaw = orderFlaw(chunks) ?? paletteFlaw(chunks, header);
  if (flaw !== undefined) throw problem(flaw);
  const { width, height } = header;
  if (width === wanted.width && height === wanted.height) checkPixels(chunks, header, tools, problem);
  return { width, height };
}

type Refusal = (why: string) => UserError;

function readChunks(bytes: Buffer, tools: PngTools, problem: Refusal): Chunk[] {
  const chunks: Chunk[] = [];
  let at = signature.length;
  while (chunks.at(-1)?.type !== "IEND") {
    if (at + 12 > bytes.length) throw problem("it ends too early");
    const end = at + 8 + bytes.readUInt32BE(at);
    if (end + 4 > bytes.length) throw problem("it ends too early");
    if (chunks.length === chunkLimit) throw problem(`it has more than ${chunkLimit} chunks`);
    if (tools.crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end))
      throw problem("a checksum is wrong");
    chunks.push({ type: bytes.toString("latin1", at + 4, at + 8), data: bytes.subarray(at + 8, end) });
    at = end + 4;
  }
  if (at !== bytes.length) throw problem("something follows its end");
  return chunks;
}

/** Colour type → samples of a pixel, and the depths that it may have (11.2.2, table 11.1). */
const colours = new Map<number, { readonly samples: number; readonly depths: readonly number[] }>([
  [0, { samples: 1, depths: [1, 2, 4, 8, 16] }],
  [2, { samples: 3, depths: [8, 16] }],
  [3, { samples: 1, depths: [1, 2, 4, 8] }],
  [4, { samples: 2, depths: [8, 16] }],
  [6, { samples: 4, depths: [8, 16] }],
]);
const indexed = 3;
const greys = [0, 4];

function readHeader(chunk: Chunk | undefined, problem: Refusal): Header {
  if (chunk?.type !== "IHDR" || chunk.data.length !== 13) throw problem("it does not start with its header");
  const [depth = 0, colour = 0, compression, filter, interlace = 0] = chunk.data.subarray(8);
  if (!colours.get(colour)?.depths.includes(depth))
    throw problem(`no picture has ${depth} bits of colour type ${colour}`);
  if (compression !== 0 || filter !== 0 || interlace > 1)
    throw problem("its header names a method that does not exist");
  const [width, height] = [chunk.data.readUInt32BE(0), chunk.data.readUInt32BE(4)];
  if (width === 0 || height === 0 || width > 0x7fffffff || height > 0x7fffffff)
    throw problem("its header gives an impossible size");
  return { width, height, depth, colour, isInterlaced: interlace === 1 };
}

function orderFlaw(chunks: readonly Chunk[]): string | undefined {
  const types = chunks.map(({ type }) => type);
  const strange = types.find((type) => !/^[A-Za-z]{4}$/.test(type));
  if (strange !== undefined) return "the name of a chunk is broken";
  // A capital first letter: whoever does not know the chunk cannot show the picture.
  const unknown = types.find(
    (type) => /^[A-Z]/.test(type) && !["IHDR", "PLTE", "IDAT", "IEND"].includes(type),
  );
  if (unknown !== undefined) return `it needs a chunk “${unknown}” that the specification does not know`;
  if (types.lastIndexOf("IHDR") > 0) return "it has two headers";
  const [first, last] = [types.indexOf("IDAT"), types.lastIndexOf("IDAT")];
  if (first < 0) return "it holds no picture";
  if (types.slice(first, last).some((type) => type !== "IDAT")) return "its picture data is interrupted";
  if (chunks.at(-1)?.data.length !== 0) return "its last chunk is not empty";
  return undefined;
}

function paletteFlaw(chunks: readonly Chunk[], { colour, depth }: Header): string | undefined {
  const palettes = chunks.filter(({ type }) => type === "PLTE");
  const [palette] = palettes;
  if (palette === undefined) return colour === indexed ? "its palette is missing" : undefined;
  if (greys.includes(colour)) return "it has a palette, but no colours";
  if (palettes.length > 1) return "it has two palettes";
  const isBeforePicture = chunks.indexOf(palette) < chunks.findIndex(({ type }) => type === "IDAT");
  if (!isBeforePicture) return "its palette stands behind its picture";
  const entries = palette.data.length / 3;
  const most = colour === indexed ? 2 ** depth : 256;
  return Number.isInteger(entries) && entries >= 1 && entries <= most ? undefined : "its palette is broken";
}

/** Where the seven passes of Adam7 start and how far they step: x, y, dx, dy (8.2). */
const adam7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Rows of equal length, in bytes, with the filter's byte in front of each. */
interface Rows {
  readonly count: number;
  readonly rowBytes: number;
}

function rowsOf({ width, height, depth, colour, isInterlaced }: Header): Rows[] {
  const bits = depth * (colours.get(colour)?.samples ?? 0);
  const passes = isInterlaced ? adam7 : ([[0, 0, 1, 1]] as const);
  return passes.flatMap(([x, y, dx, dy]) => {
    const pixels = Math.ceil((width - x) / dx);
    const count = Math.ceil((height - y) / dy);
    return pixels > 0 && count > 0 ? [{ count, rowBytes: 1 + Math.ceil((pixels * bits) / 8) }] : [];
  });
}

function checkPixels(chunks: readonly Chunk[], header: Header, tools: PngTools, problem: Refusal): void {
  const packed = Buffer.concat(chunks.flatMap(({ type, data }) => (type === "IDAT" ? [data] : [])));
  const rows = rowsOf(header);
  const size = rows.reduce((sum, { count, rowBytes }) => sum + count * rowBytes, 0);
  const { bytes, used } = inflated(packed, size, tools, problem);
  if (bytes.length !== size || used !== packed.length)
    throw problem("its picture data is not as long as its header says");
  let at = 0;
  for (const { count, rowBytes } of rows) {
    for (let i = 0; i < count; i++, at += rowBytes) {
      if ((bytes[at] ?? 0) > 4) throw problem("a row of its picture names a filter that does not exist");
    }
  }
}

function inflated(packed: Buffer, size: number, tools: PngTools, problem: Refusal) {
  try {
    return tools.inflate(packed, size);
  } catch {
    throw problem("its picture data is broken or too long");
  }
}
