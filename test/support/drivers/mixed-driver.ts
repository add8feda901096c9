import type { TestContext } from "node:test";
import { startApp, type TestApp } from "../app.ts";
import { printerInf } from "./driver-zip.ts";
import type { Tree } from "./foreign.ts";
import { makeZip, type ZipPart } from "./zip.ts";

export async function bytesOf(answer: Response | Promise<Response>): Promise<Buffer> {
  return Buffer.from(await (await answer).arrayBuffer());
}

/** Bytes that deflate badly. */
export const noise = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * i * 7919) >> 3));

/** The files of a driver archive with every kind of ZIP entry. */
const mixedFiles: Tree = {
  "papyrus.inf": Buffer.from(printerInf()),
  "papyrus.cat": Buffer.from("catalog"),
  "papyrus.dll": Buffer.from("the bytes of papyrus.dll"),
  "stored.bin": noise,
  "described.bin": Buffer.from("x".repeat(100_000)),
  "zip64.bin": Buffer.from("large sizes"),
  "empty.txt": Buffer.alloc(0),
  "Unterordner mit ä/Datei ö ß.txt": Buffer.from("umlauts and blanks"),
  "ordner/B\u00fcro.txt": Buffer.from("a CP437 name"),
};

/** How some of them are packed. */
const forms: Readonly<Record<string, Partial<ZipPart>>> = {
  "stored.bin": { method: 0 },
  "described.bin": { withDescriptor: true },
  "zip64.bin": { withZip64: true },
  "ordner/B\u00fcro.txt": { rawName: Buffer.from("ordner\\B\x81ro.txt", "latin1") },
};

function mixedZip(): Buffer {
  const parts = Object.entries(mixedFiles).map(([name, bytes]) => ({ name, bytes, ...forms[name] }));
  return makeZip([...parts, { name: "leer/", method: 0 }]);
}

/** The files of a package without its scripts. */
export function withoutScripts(tree: Tree): Tree {
  return Object.fromEntries(
    Object.entries(tree).filter(([name]) => !/^(?:install|uninstall|detect)\.ps1$/.test(name)),
  );
}

/** The driver's files in a package. */
export const expectedTree: Tree = Object.fromEntries(
  Object.entries(mixedFiles).map(([name, bytes]) => [`driver/${name}`, bytes]),
);

/** Starts the service with a printer that has that driver. */
export async function appWithMixedDriver(t: TestContext): Promise<TestApp & { printer: number }> {
  const app = await startApp(t);
  const driver = await app.addDriver(mixedZip());
  const printer = await app.addPrinter({ driver_id: String(driver), name: "Büro" });
  return { ...app, printer };
}
