import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { UserError } from "../domain/errors.ts";

const pack = promisify<Buffer, { level: number }, Buffer>(deflateRaw);
const unpack = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

/** Of a list's text in UTF-8, so that a small state does not become a large text. */
const mostBytes = 24 * 1024 * 1024;

/** A list as its preview carries it to the next step: small, and safe in any form. */
export async function packList(text: string): Promise<string> {
  return (await pack(Buffer.from(text, "utf8"), { level: 1 })).toString("base64");
}

/** @throws UserError "invalid" where it is not what `packList` made */
export async function unpackList(state: string): Promise<string> {
  try {
    return (await unpack(Buffer.from(state, "base64"), { maxOutputLength: mostBytes })).toString("utf8");
  } catch {
    throw new UserError("invalid", "The preview did not arrive whole: choose the file again.");
  }
}
