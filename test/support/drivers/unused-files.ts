import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import { navigation, startApp } from "../app.ts";
import { printerInf } from "./driver-zip.ts";
import { bytesOf } from "./mixed-driver.ts";
import { makeZip } from "./zip.ts";

const others = ["papyrus.cat", "PAPYRUS.DLL", "quill.dll", "shared.dll", "usb.cat", "usb.sys", "readme.txt"];
export const unusedBytes = randomBytes(1_500_000);

/** Two printer INFs that share a library; the first copies a third INF; no INF uses the setup program. */
const archive = makeZip([
  { name: "setup.exe", bytes: unusedBytes, method: 0 },
  {
    name: "Disk/papyrus.inf",
    bytes: printerInf({ files: ["papyrus.dll", "shared.dll"] }).replace(
      "[Files]",
      "CopyINF=usb.inf\r\n[Files]",
    ),
  },
  { name: "Disk/quill.inf", bytes: printerInf({ files: ["quill.dll", "shared.dll"], models: ["Quill 7"] }) },
  { name: "Disk/usb.inf", bytes: printerInf({ className: "USB", files: ["usb.sys"], catalog: "usb.cat" }) },
  ...others.map((name) => ({ name: `Disk/${name}`, bytes: `the bytes of ${name}` })),
]);

export const allPaths = [
  "setup.exe",
  ...["papyrus.inf", "quill.inf", "usb.inf", ...others].map((name) => `Disk/${name}`),
];
const unusedByPapyrus = ["setup.exe", "Disk/quill.inf", "Disk/quill.dll", "Disk/readme.txt"];
export const usedByPapyrus = allPaths.filter((name) => !unusedByPapyrus.includes(name));
export const usedByQuill = ["Disk/quill.inf", "Disk/papyrus.cat", "Disk/quill.dll", "Disk/shared.dll"];

const papyrus = { inf_path: "Disk/papyrus.inf", driver_desc: "Papyrus 100 PCL6" };
export const quill = { inf_path: "Disk/quill.inf", driver_desc: "Quill 7" };
export const dropUnused = { drop_unused: "on" };

/** Starts the service with that driver and a printer of a client. */
export async function startWithUnusedFiles(t: TestContext) {
  const app = await startApp(t);
  await app.post("/clients", { name: "Acme" });
  const driver_id = String(await app.addDriver(archive));
  const id = await app.addPrinter({ driver_id, client_id: "1" });
  const save = async (fields: Record<string, string>) => {
    const { status } = await app.post("/drivers/1", { ...papyrus, ...fields }, navigation);
    assert.equal(status, 303);
  };
  const rmm = () => bytesOf(app.fetch(`/printers/${id}/packages/rmm`));
  const mdm = () => bytesOf(app.fetch(`/printers/${id}/packages/mdm`));
  const text = async (path: string) => (await app.fetch(path)).text();
  return { ...app, id, save, rmm, mdm, text };
}
