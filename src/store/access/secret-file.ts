import { readFile } from "node:fs/promises";

/** Characters. */
const maxLength = 4096;

/**
 * Reads a secret from a file of one line, such as a Docker secret.
 * @param what the secret in messages, such as `password`
 * @throws Error that names the setting and the file, and never its content
 */
export async function readSecretFile(setting: string, what: string, path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${setting} is ${path}, which cannot be read (${error.code ?? "no file"}).`);
  });
  const secret = text.replace(/^\ufeff/, "").replace(/\r?\n$/, "");
  if (secret === "")
    throw new Error(`${setting} is ${path}, which is empty; it holds the ${what} as its one line.`);
  if (text.length > maxLength || /[\r\n\0\ufffd]/.test(secret)) {
    throw new Error(`${setting} is ${path}, which is no file of one line of UTF-8 text with the ${what}.`);
  }
  return secret;
}
