import { createHash } from "node:crypto";
import css from "../../assets/app.css";
import js from "../../assets/app.js";
import htmx from "../../assets/htmx-2.0.11.min.js";
import icon from "../../assets/icon.svg";
import { UserError } from "../domain/errors.ts";
import type { Assets } from "../html/layout.ts";
import { bytesDownload, type Reply } from "./reply.ts";
import type { Context } from "./router.ts";

interface Asset {
  readonly bytes: Buffer;
  readonly type: string;
  /** Of the content, in hex: a changed file has another address. */
  readonly digest: string;
}

function asset(text: string, type: string): Asset {
  const bytes = Buffer.from(text, "utf8");
  return { bytes, type, digest: createHash("sha256").update(bytes).digest("hex").slice(0, 12) };
}

const files = {
  "app.css": asset(css, "text/css; charset=utf-8"),
  "app.js": asset(js, "text/javascript; charset=utf-8"),
  "htmx.js": asset(htmx, "text/javascript; charset=utf-8"),
  "icon.svg": asset(icon, "image/svg+xml"),
};

function address(name: keyof typeof files): string {
  return `/static/${name}?v=${files[name].digest}`;
}

/** Where pages find the files. */
export const assets: Assets = {
  css: address("app.css"),
  js: address("app.js"),
  htmx: address("htmx.js"),
  icon: address("icon.svg"),
};

/** `GET /static/…` */
export function show({ params, url }: Context<"name">): Reply {
  const found = Object.entries(files).find(([name]) => name === params.name)?.[1];
  if (found === undefined) throw new UserError("not-found", "There is no such file.");
  return assetReply(found, url.searchParams.get("v") === found.digest);
}

/** `GET /favicon.ico`, which browsers ask for unasked. */
export function favicon(): Reply {
  return assetReply(files["icon.svg"], false);
}

function assetReply({ bytes, type }: Asset, isImmutable: boolean): Reply {
  const cacheControl = isImmutable ? "public, max-age=31536000, immutable" : "no-cache";
  return bytesDownload(bytes, { type, cacheControl });
}
