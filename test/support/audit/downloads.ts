import { readdirSync, readlinkSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";

/** Begins a download and reads nothing of it but the headers. */
export function begin(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers }, (response) => resolve(response.pause())).on("error", reject);
  });
}

/** The rest of a download. */
export async function rest(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Files below a folder that this process holds open, deleted ones too. Linux only. */
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
