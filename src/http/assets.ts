import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import css from "../../assets/app.css";
import js from "../../assets/app.js";
import htmx from "../../assets/htmx-2.0.11.min.js";
import icon from "../../assets/icon.svg";
import zip from "../../assets/scripts/zip.js";
import { memoize } from "../domain/collections.ts";
import { missingPage } from "../domain/errors.ts";
import type { Assets } from "../html/layout.ts";
import { acceptsGzip, compress } from "./answers/compression.ts";
import { bytesDownload, type Reply } from "./answers/reply.ts";
import type { Context } from "./router.ts";

interface Asset {
  readonly bytes: Buffer;
  readonly type: string;
  /** The start of the content's SHA-256, in hex. It is part of the URL, so a changed file has a new one. */
  readonly digest: string;
}

function asset(text: string, type: string): Asset {
  const bytes = Buffer.from(text, "utf8");
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  return { bytes, type, digest };
}

const files = {
  "app.css": asset(css, "text/css; charset=utf-8"),
  "app.js": asset(js, "text/javascript; charset=utf-8"),
  "htmx.js": asset(htmx, "text/javascript; charset=utf-8"),
  "icon.svg": asset(icon, "image/svg+xml"),
  // `app.js` imports it without a digest: browsers ask whether it has changed.
  "zip.js": asset(zip, "text/javascript; charset=utf-8"),
};

function address(name: keyof typeof files): string {
  return `/static/${name}?v=${files[name].digest}`;
}

export const assets: Assets = {
  css: address("app.css"),
  js: address("app.js"),
  htmx: address("htmx.js"),
  icon: address("icon.svg"),
};

/** `GET /static/…` */
export function show({ request, params, url }: Context<"name">): Promise<Reply> {
  const found = Object.entries(files).find(([name]) => name === params.name)?.[1];
  if (found === undefined) throw missingPage();
  return assetReply(request, found, url.searchParams.get("v") === found.digest);
}

/** `GET /favicon.ico`, which browsers request although no page mentions it. */
export function favicon({ request }: Context): Promise<Reply> {
  return assetReply(request, files["icon.svg"], false);
}

/** Files are compressed once. */
const compressedOf = memoize(({ bytes }: Asset) => compress(bytes, 9));

async function assetReply({ headers }: IncomingMessage, asset: Asset, isImmutable: boolean): Promise<Reply> {
  const { bytes, type, digest } = asset;
  const cacheControl = isImmutable ? "public, max-age=31536000, immutable" : "no-cache";
  const encoding = acceptsGzip(headers["accept-encoding"]) ? "gzip" : null;
  const content = encoding ? await compressedOf(asset) : bytes;
  return bytesDownload(content, { type, cacheControl, encoding, etag: encoding ? `${digest}-gzip` : digest });
}
