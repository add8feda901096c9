import { layOut, layOutDrivers } from "../../../src/pkg/formats/contents.ts";
import { usedEntries } from "../../../src/pkg/formats/used-entries.ts";
import { readArchive } from "../../../src/pkg/zip/archive.ts";
import { fillFromLayout } from "../../../src/pkg/zip/layout.ts";
import { sourceOf } from "./zip.ts";

/** The ZIP that the service serves as a driver's files. @param onlyUsedBy the path of an INF: only its files are included */
export async function filesZip(archive: Buffer, onlyUsedBy?: string): Promise<Buffer> {
  const source = sourceOf(archive);
  const { entries } = await readArchive(source);
  const wanted = onlyUsedBy === undefined ? entries : await usedEntriesOf(archive, onlyUsedBy);
  const drivers = [{ sha256: "a".repeat(64), folder: "", onlyUsedBy }];
  const laidOut = layOutDrivers(drivers, [wanted]);
  const { layout } = layOut(laidOut, { settings: undefined, signatures: {}, extras: [] });
  const bytes = Buffer.alloc(layout.size);
  await fillFromLayout(layout, [source], 0, bytes);
  return bytes;
}

/** The entries of an archive that an INF and the INFs that it copies use. */
export async function usedEntriesOf(archive: Buffer, infPath: string) {
  const source = sourceOf(archive);
  const { entries } = await readArchive(source);
  return usedEntries(source, entries, infPath, () => {});
}
