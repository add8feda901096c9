import { STATUS_CODES } from "node:http";
import type { Config } from "../../config.ts";

/** What a browser could lend a page: pages use none of it. */
const denied = [
  "camera",
  "display-capture",
  "geolocation",
  "hid",
  "microphone",
  "midi",
  "payment",
  "serial",
  "usb",
];

const always: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": denied.map((feature) => `${feature}=()`).join(", "),
};

/** A year, and this name alone: whoever runs Platen at example.com may have plain http at printer.example.com. */
const onHttps = { ...always, "Strict-Transport-Security": "max-age=31536000" };

/** What every answer carries, whatever it answers: no answer leaves this service without them. */
export function answerHeaders({ publicUrl }: Pick<Config, "publicUrl">): Readonly<Record<string, string>> {
  return publicUrl?.startsWith("https:") ? onHttps : always;
}

/** A whole answer for a connection that ends with it, where there is no request to answer: one line of text. */
export function lastAnswer(
  config: Pick<Config, "publicUrl">,
  status: number,
  line: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const body = `${line}\n`;
  const all = {
    ...answerHeaders(config),
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    Connection: "close",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`;
}
