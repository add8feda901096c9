import { readdirSync, readlinkSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";

/** Begins a download and reads only its headers. */
export function beginDownload(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers }, (response) => resolve(response.pause())).on("error", reject);
  });
}

/** The rest of a download. */
export async function readRest(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Files below a folder that this process has open, including deleted ones. Linux only. */
export function openFilesBelow(folder: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`);
      return path.startsWith(`${folder}/`) ? [path] : [];
    } catch {
      return [];
    }
  });
}
