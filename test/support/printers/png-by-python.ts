import { execFileSync } from "node:child_process";

/** Writes 30 pictures without a PNG library: each as its length (4 bytes, big-endian) and its bytes. */
const program = `
import random, struct, sys, zlib
random.seed(13)
def chunk(t, d): return struct.pack('>I', len(d)) + t + d + struct.pack('>I', zlib.crc32(t + d))
passes = [(0,0,8,8),(4,0,8,8),(0,4,4,8),(2,0,4,4),(0,2,2,4),(1,0,2,2),(0,1,1,2)]
for colour, samples, depths in [(0,1,(1,2,4,8,16)),(2,3,(8,16)),(3,1,(1,2,4,8)),(4,2,(8,16)),(6,4,(8,16))]:
    for depth in depths:
        for lace in (0, 1):
            raw = b''
            for x0, y0, dx, dy in (passes if lace else [(0,0,1,1)]):
                for y in range(y0, 256, dy):
                    n = len(range(x0, 256, dx)) * depth * samples
                    raw += bytes([random.randrange(5)]) + random.randbytes((n + 7) // 8)
            data = zlib.compress(raw, random.randrange(10))
            parts = [data[i:i + 8192] for i in range(0, len(data), 8192)]
            png = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 256, 256, depth, colour, 0, 0, lace))
            png += chunk(b'gAMA', struct.pack('>I', 45455)) + chunk(b'pHYs', struct.pack('>IIB', 2835, 2835, 1))
            if colour == 3: png += chunk(b'PLTE', random.randbytes(3 * 2 ** depth)) + chunk(b'tRNS', b'\\0')
            png += b''.join(chunk(b'IDAT', p) for p in parts) + chunk(b'tIME', b'\\x07\\xea\\x01\\x01\\0\\0\\0') + chunk(b'IEND', b'')
            sys.stdout.buffer.write(struct.pack('>I', len(png)) + png)
`;

/** Pictures of every colour type, depth and interlacing, with random rows and filters, written by Python. */
export function picturesByPython(): Buffer[] {
  const all = execFileSync("python3", ["-c", program], { maxBuffer: 1 << 26 });
  const pictures: Buffer[] = [];
  for (let at = 0; at < all.length; ) {
    const end = at + 4 + all.readUInt32BE(at);
    pictures.push(all.subarray(at + 4, end));
    at = end;
  }
  return pictures;
}
