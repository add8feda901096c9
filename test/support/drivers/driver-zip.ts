import { makeZip, type ZipPart } from "./zip.ts";

export interface InfOptions {
  readonly models?: readonly string[];
  readonly version?: string;
  readonly date?: string;
  readonly provider?: string;
  /** The name in `[Manufacturer]`; default: the provider. */
  readonly maker?: string;
  readonly className?: string;
  readonly catalog?: string | null;
  readonly files?: readonly string[];
  /** Decorations of the models section, separated by commas. */
  readonly decoration?: string;
}

/** Enough models for a search field. */
export const sixtyModels = Array.from({ length: 60 }, (_, i) => `Papyrus ${100 + i} PCL6`);

/** A small printer INF with defaults for everything. It has a byte order mark if it is not ASCII. */
export function printerInf(options: InfOptions = {}): string {
  const { models = ["Papyrus 100 PCL6"], version = "1.2.3.4", date = "06/21/2025" } = options;
  const { provider = "Papyrus", maker = provider, className = "Printer" } = options;
  const { catalog = "papyrus.cat", files = ["papyrus.dll"], decoration = "NTamd64" } = options;
  const lines = models.map((model, i) => `"${model.replaceAll('"', '""')}"=Install,USBPRINT\\Papyrus${i}`);
  const text = [
    `[Version]\r\nSignature="$Windows NT$"\r\nClass=${className}`,
    ...(className === "Printer" ? ["ClassGuid={4D36E979-E325-11CE-BFC1-08002BE10318}"] : []),
    `Provider="${provider}"`,
    `DriverVer=${date},${version}`,
    ...(catalog === null ? [] : [`CatalogFile=${catalog}`]),
    "[Manufacturer]",
    `"${maker}"=Models,${decoration}`,
    ...decoration.split(",").flatMap((machine) => [`[Models.${machine}]`, ...lines]),
    "[Install]\r\nCopyFiles=Files\r\n[Files]",
    ...files,
    '[SourceDisksNames]\r\n1="Disk"\r\n[SourceDisksFiles]',
    ...files.map((file) => `${file}=1`),
    "",
  ].join("\r\n");
  return marked(text);
}

/** The text of an INF, so that Windows reads its UTF-8 as such. */
export function marked(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : `\ufeff${text}`;
}

/** A small driver ZIP: INF, catalog, the files that the INF copies, and `extra`. */
export function driverZip(options: InfOptions & { readonly extra?: readonly ZipPart[] } = {}): Buffer {
  const { files = ["papyrus.dll"], catalog = "papyrus.cat" } = options;
  return makeZip([
    { name: "papyrus.inf", bytes: printerInf(options) },
    ...(catalog === null ? [] : [{ name: catalog, bytes: "catalog" }]),
    ...files.map((name) => ({ name, bytes: `the bytes of ${name}` })),
    ...(options.extra ?? []),
  ]);
}

/** A complete driver ZIP with two INFs: sixty models in the first, two in the second. */
export const twoInfs = driverZip({
  version: "3.0.0.0",
  models: sixtyModels,
  extra: [
    {
      name: "sub/second.inf",
      bytes: printerInf({ models: ["Papyrus 159 PCL6", "Papyrus 777 PCL6"], version: "9.9.9.9" }),
    },
    { name: "sub/papyrus.dll", bytes: "its own" },
    { name: "sub/papyrus.cat", bytes: "catalog" },
  ],
});
