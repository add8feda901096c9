import { readInf } from "../../src/inf/package.ts";
import { PackageFiles } from "../../src/inf/package-files.ts";
import { vendorPackages } from "../support/drivers/vendors.ts";
import { machine, median, table, times } from "./figures.ts";

/** An INF with this many models, and sections and files for them. */
function largeInf(models: number): Buffer {
  const lines = ["[Version]", "Class=Printer", "[Manufacturer]", '"P"=M,NTamd64', "[M.NTamd64]"];
  for (let i = 0; i < models; i++) lines.push(`%m${i}%=Install${i >> 2},USBPRINT\\Model${i},Model${i}`);
  for (let i = 0; i < models >> 2; i++)
    lines.push(`[Install${i}]`, `CopyFiles=Files${i},@one${i}.dll`, `[Files${i}]`, `two${i}.dll`);
  lines.push("[SourceDisksNames]", "1=d,,,x64", "[SourceDisksFiles]");
  for (let i = 0; i < models >> 2; i++) lines.push(`one${i}.dll=1`, `two${i}.dll=1`);
  lines.push("[Strings]");
  for (let i = 0; i < models; i++) lines.push(`m${i}="Papyrus ${i} PCL6"`);
  return Buffer.from(lines.join("\r\n"));
}

async function main(): Promise<void> {
  console.log(`\n## Reading INF files (${machine()})\n`);
  const rows = [["INF", "size", "model lines", "median of 5", "per MB"]];
  const measure = async (name: string, bytes: Buffer, files: PackageFiles) => {
    const { models } = readInf("a.inf", bytes, files);
    const ms = median(await times(5, () => readInf("a.inf", bytes, files)));
    const megabytes = bytes.length / 2 ** 20;
    rows.push([
      name,
      `${megabytes.toFixed(2)} MB`,
      String(models.lineCount),
      `${ms.toFixed(1)} ms`,
      `${(ms / megabytes).toFixed(0)} ms`,
    ]);
  };
  for (const factor of [1, 4, 16])
    await measure(`generated, ${factor}×`, largeInf(3000 * factor), new PackageFiles(["a.inf"]));
  const infs = vendorPackages().flatMap(({ name, infs, files }) =>
    [...infs].map(([path, bytes]) => ({ name: `${name}/${path}`, bytes, files })),
  );
  for (const { name, bytes, files } of infs.sort((a, b) => b.bytes.length - a.bytes.length).slice(0, 3))
    await measure(name, bytes, new PackageFiles(files.map(([path]) => path)));
  table(rows);
}

void main();
