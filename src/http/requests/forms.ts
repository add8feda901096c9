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
/** A PrintTicket may also be sent as a file. */
const printerForm = { ...plainForm, limitBytes: printerFormLimitBytes, fileFields: ["print_ticket"] };

/** Reads a form's fields. The last of several fields with the same name counts. @throws UserError */
export async function readForm(request: IncomingMessage): Promise<FormInput> {
  return Object.fromEntries(await readFields(request));
}

/** Reads a printer's form. @throws UserError */
export async function readPrinterForm(request: IncomingMessage): Promise<FormInput> {
  return Object.fromEntries(await readFields(request, printerForm));
}

/** Reads all values of all fields. A text in a file overrides the typed one. @throws UserError */
export async function readFields(request: IncomingMessage, kind = plainForm): Promise<URLSearchParams> {
  const type = request.headers["content-type"] ?? "";
  if (/^multipart\/form-data/i.test(type)) {
    const { fields, files } = await readMultipart(request, kind);
    const texts = files.map(([name, bytes]) => [name, decodeText(bytes)] as [string, string]);
    return new URLSearchParams([...fields, ...texts.filter(([, text]) => text !== "")]);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  // The caller drains the rest before it answers.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > kind.limitBytes) throw kind.tooLarge();
    chunks.push(chunk);
  }
  await recheckSender(request);
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}

/** Reads the rest of a request for at most `limitMs` and discards it: clients read the answer after they have sent all. */
export async function drain(request: IncomingMessage, limitMs: number): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  request.unpipe();
  request.resume();
  await finished(request, { signal: AbortSignal.timeout(limitMs) }).catch(() => {});
}
