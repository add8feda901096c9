import type { IncomingMessage } from "node:http";
import type { FormInput } from "../../domain/fields.ts";
import { bodyIsRead } from "./body-end.ts";
import {
  type FormKind,
  formLimitBytes,
  formTooLarge,
  printerFormLimitBytes,
  readMultipartFields,
} from "./multipart.ts";

const plainForm: FormKind = { limitBytes: formLimitBytes, textFiles: [] };
/** A PrintTicket may come as a file, too. */
const printerForm: FormKind = { limitBytes: printerFormLimitBytes, textFiles: ["print_ticket"] };

/** Reads a form's fields; of several that have one name, the last counts. @throws UserError */
export async function readForm(request: IncomingMessage): Promise<FormInput> {
  return Object.fromEntries(await readFields(request));
}

/** The same of a printer's form. */
export async function readPrinterForm(request: IncomingMessage): Promise<FormInput> {
  return Object.fromEntries(await readFields(request, printerForm));
}

/** The same with every value of every name. */
export async function readFields(request: IncomingMessage, kind = plainForm): Promise<URLSearchParams> {
  const type = request.headers["content-type"] ?? "";
  if (/^multipart\/form-data/i.test(type))
    return new URLSearchParams(await readMultipartFields(request, kind));
  const chunks: Buffer[] = [];
  let size = 0;
  // What is not read here is drained before the answer goes out, for a while.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > kind.limitBytes) throw formTooLarge();
    chunks.push(chunk);
  }
  await bodyIsRead(request);
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}

/** Reads what is left of a request, for so long at most, and throws it away: the answer reaches only who has sent all. */
export async function drain(request: IncomingMessage, limitMs: number): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  request.unpipe();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once("end", done).once("close", done).once("error", done);
    request.resume();
  });
}
