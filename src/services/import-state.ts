import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { UserError } from "../domain/errors.ts";

const pack = promisify<Buffer, { level: number }, Buffer>(deflateRaw);
const unpack = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

/** A list's bytes as its preview carries them to the next step: small, and safe in any form. */
export async function packList(list: Buffer): Promise<string> {
  return (await pack(list, { level: 1 })).toString("base64");
}

/**
 * @param limitBytes of the list: a small state must not become a large one
 * @throws UserError "invalid" where it is not what `packList` made of such a list
 */
export async function unpackList(state: string, limitBytes: number): Promise<Buffer> {
  try {
    return await unpack(Buffer.from(state, "base64"), { maxOutputLength: limitBytes });
  } catch {
    throw new UserError("invalid", "The preview did not arrive whole: choose the file again.");
  }
}
