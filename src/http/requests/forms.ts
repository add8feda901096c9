import type { IncomingMessage } from "node:http";
import { finished } from "node:stream/promises";
import { decodeText } from "../../domain/decode.ts";
import type { FormInput } from "../../domain/fields.ts";
import { recheckSender } from "../sender.ts";
import {
  type FormKind,
  formLimitBytes,
  formTooLarge,
  printerFormLimitBytes,
  readMultipart,
} from "./multipart.ts";

const plainForm: FormKind = { limitBytes: formLimitBytes, tooLarge: formTooLarge, fileFields: [] };
/** A PrintTicket may come as a file, too. */
const printerForm = { ...plainForm, limitBytes: printerFormLimitBytes, fileFields: ["print_ticket"] };

/** Reads a form's fields; of several that have one name, the last counts. @throws UserError */
export async function readForm(request: IncomingMessage): Promise<FormInput> {
  return Object.fromEntries(await readFields(request));
}

/** The same of a printer's form. */
export async function readPrinterForm(request: IncomingMessage): Promise<FormInput> {
  return Object.fromEntries(await readFields(request, printerForm));
}

/** The same with every value of every name. A text that comes as a file counts more than what was typed. */
export async function readFields(request: IncomingMessage, kind = plainForm): Promise<URLSearchParams> {
  const type = request.headers["content-type"] ?? "";
  if (/^multipart\/form-data/i.test(type)) {
    const { fields, files } = await readMultipart(request, kind);
    const texts = files.map(([name, bytes]) => [name, decodeText(bytes)] as [string, string]);
    return new URLSearchParams([...fields, ...texts.filter(([, text]) => text !== "")]);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  // What is not read here is drained before the answer goes out, for a while.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > kind.limitBytes) throw kind.tooLarge();
    chunks.push(chunk);
  }
  await recheckSender(request);
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}

/** Reads what is left of a request, for so long at most, and throws it away: the answer reaches only who has sent all. */
export async function drain(request: IncomingMessage, limitMs: number): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  request.unpipe();
  request.resume();
  await finished(request, { signal: AbortSignal.timeout(limitMs) }).catch(() => {});
}
