import { layOut, layOutDrivers } from "../../src/pkg/formats/contents.ts";
import { readArchive } from "../../src/pkg/zip/archive.ts";
import { fillFromLayout } from "../../src/pkg/zip/layout.ts";
import { sourceOf } from "./zip.ts";

/** What the service serves as a driver's files, made of its archive. */
export async function filesZip(archive: Buffer): Promise<Buffer> {
  const source = sourceOf(archive);
  const drivers = [{ sha256: "a".repeat(64), folder: "" }];
  const laidOut = layOutDrivers(drivers, [await readArchive(source)]);
  const { layout } = layOut(laidOut, { settings: undefined, icon: undefined });
  const bytes = Buffer.alloc(layout.size);
  await fillFromLayout(layout, [source], 0, bytes);
  return bytes;
}
