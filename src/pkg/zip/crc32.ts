/** A 32 × 32 matrix over GF(2): the effect of a number of zero bits on the CRC register. */
type Matrix = readonly number[];

/** The register after one zero bit, for the reflected polynomial 0xEDB88320. */
const oneBit: Matrix = [0xedb88320, ...Array.from({ length: 31 }, (_, i) => (1 << i) >>> 0)];

/**
 * The CRC-32 of two concatenated pieces of data, from the CRC-32 of each. It shifts the first CRC by `secondLength` zero
 * bytes, by repeated squaring of a matrix, and adds the second.
 */
export function crc32Combine(first: number, second: number, secondLength: number): number {
  let crc = first;
  let power = square(square(square(oneBit)));
  for (let rest = secondLength; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) crc = times(power, crc);
    power = square(power);
  }
  return (crc ^ second) >>> 0;
}

function times(matrix: Matrix, vector: number): number {
  let sum = 0;
  for (let bit = 0; bit < 32; bit++) if ((vector >>> bit) & 1) sum ^= matrix[bit] ?? 0;
  return sum >>> 0;
}

function square(matrix: Matrix): Matrix {
  return matrix.map((column) => times(matrix, column));
}
