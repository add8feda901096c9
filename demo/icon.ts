import { makePicture } from "../test/support/printers/png.ts";

const size = 256;

type Colour = readonly [red: number, green: number, blue: number];

/** A rectangle with round corners: left, top, right and bottom edge. */
interface Shape {
  readonly box: readonly [left: number, top: number, right: number, bottom: number];
  readonly radius: number;
  readonly colour: Colour;
}

/** A PNG of a printer on a background of this colour. */
export function printerIcon(colour: Colour): Buffer {
  const white: Colour = [255, 255, 255];
  const shapes: Shape[] = [
    { box: [8, 8, 248, 248], radius: 44, colour },
    { box: [84, 52, 172, 120], radius: 6, colour: white },
    { box: [52, 100, 204, 176], radius: 14, colour: white },
    { box: [176, 114, 190, 128], radius: 7, colour },
    { box: [78, 146, 178, 214], radius: 6, colour },
    { box: [86, 152, 170, 208], radius: 4, colour: white },
    { box: [100, 168, 156, 174], radius: 3, colour },
    { box: [100, 186, 140, 192], radius: 3, colour },
  ];
  return makePicture({ width: size, height: size, colour: 6, rows: rowsOf(shapes) });
}

/** Puts a byte for “no filter” before each row. */
function rowsOf(shapes: readonly Shape[]): Buffer {
  const rows = Buffer.alloc(size * (1 + size * 4));
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const shape = shapes.findLast((candidate) => covers(candidate, x + 0.5, y + 0.5));
      if (shape !== undefined) rows.set([...shape.colour, 255], y * (1 + size * 4) + 1 + x * 4);
    }
  }
  return rows;
}

function covers({ box: [left, top, right, bottom], radius }: Shape, x: number, y: number): boolean {
  const outsideX = Math.max(left + radius - x, x - (right - radius), 0);
  const outsideY = Math.max(top + radius - y, y - (bottom - radius), 0);
  return outsideX ** 2 + outsideY ** 2 <= radius ** 2;
}
