import type { Config } from "../../config.ts";

/** Browser features that Platen's pages do not use. */
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

/** One year, and not for subdomains: if Platen is at example.com, printer.example.com may need plain http. */
const onHttps = { ...always, "Strict-Transport-Security": "max-age=31536000" };

/** The headers of every answer. */
export function answerHeaders({ publicUrl }: Pick<Config, "publicUrl">): Readonly<Record<string, string>> {
  return publicUrl?.startsWith("https:") ? onHttps : always;
}
