import type { IncomingMessage } from "node:http";
import { finished } from "node:stream/promises";
import { decodeText } from "../../domain/decode.ts";
import type { FormInput } from "../../domain/fields.ts";
import {
  type FormKind,
  formLimitBytes,
  formTooLarge,
  printerFormLimitBytes,
  readBody,
  readMultipart,
} from "./multipart.ts";

const smallForm: FormKind = { limitBytes: formLimitBytes, tooLarge: formTooLarge, fileFields: [] };
/** The form of a printer, whose PrintTicket may also be sent as a file. */
export const ticketForm = { ...smallForm, limitBytes: printerFormLimitBytes, fileFields: ["print_ticket"] };

/** Reads a form's fields. The last of several fields with the same name counts. @throws UserError */
export async function readForm(request: IncomingMessage, kind = smallForm): Promise<FormInput> {
  return Object.fromEntries(await readFields(request, kind));
}

/** Reads all values of all fields. A file's text comes after the typed text, so `readForm` uses it. @throws UserError */
export async function readFields(request: IncomingMessage, kind = smallForm): Promise<URLSearchParams> {
  const type = request.headers["content-type"] ?? "";
  if (/^multipart\/form-data/i.test(type)) {
    const { fields, files } = await readMultipart(request, kind);
    const texts = files.map(([name, bytes]) => [name, decodeText(bytes)] as [string, string]);
    return new URLSearchParams([...fields, ...texts.filter(([, text]) => text !== "")]);
  }
  return new URLSearchParams((await readBody(request, kind)).toString("utf8"));
}

/** Discards the rest of a request for at most `limitMs`, because clients read the answer after they have sent it all. */
export async function drain(request: IncomingMessage, limitMs: number): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  request.unpipe();
  request.resume();
  await finished(request, { signal: AbortSignal.timeout(limitMs) }).catch(() => {});
}
