import { randomBytes } from "node:crypto";
import { printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip, type ZipPart } from "../support/drivers/zip.ts";
import { writeWhole } from "./service.ts";

/** Writes a driver of about 148 MB packed and 262 MB unpacked, in 320 files. */
export function driverFile(): string {
  const parts: ZipPart[] = [
    { name: "papyrus.inf", bytes: printerInf() },
    { name: "papyrus.cat", bytes: randomBytes(20_000) },
  ];
  parts.push({ name: "papyrus.dll", bytes: "x" });
  for (let i = 0; i < 320; i++)
    parts.push({ name: `files/f${i}.dll`, bytes: halfRandom(820_000 + ((i * 7919) % 3000)) });
  return writeWhole("driver.zip", makeZip(parts));
}

function halfRandom(size: number): Buffer {
  const bytes = Buffer.alloc(size, "The quick brown fox. ");
  for (let at = 0; at < size; at += 64) randomBytes(35).copy(bytes, at);
  return bytes;
}

/** Writes a driver of 1.2 GB in uncompressed entries. */
export function largeFile(): string {
  const bytes = randomBytes(30 * 2 ** 20);
  const parts: ZipPart[] = [
    { name: "papyrus.inf", bytes: printerInf() },
    { name: "papyrus.cat", bytes: "c" },
    { name: "papyrus.dll", bytes: "x" },
  ];
  for (let i = 0; i < 40; i++) parts.push({ name: `files/f${i}.bin`, bytes, method: 0 });
  return writeWhole("large.zip", makeZip(parts));
}
