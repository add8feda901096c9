import { UserError } from "./errors.ts";
import { checkPng, hasPngSignature, type PngTools } from "./png.ts";

const iconPixels = 256;
/** 750 KB, as Intune counts them. */
export const iconLimitBytes = 750 * 1024;

export interface Icon {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** UTC, milliseconds since 1970. */
  readonly uploaded_at: number;
}

export function iconTooLarge(): UserError {
  return new UserError("too-large", "An icon can have at most 750 KB (768,000 bytes).");
}

const remedy = "Save the picture as a PNG of exactly 256 × 256 pixels and upload it again.";

/** @throws UserError "invalid" when it is no PNG, damaged, or not 256 × 256 pixels. */
export function checkIcon(bytes: Buffer, tools: PngTools): void {
  if (!hasPngSignature(bytes)) throw new UserError("invalid", `This file is not a PNG. ${remedy}`);
  const wanted = { width: iconPixels, height: iconPixels };
  const { width, height } = checkPng(bytes, wanted, tools, remedy);
  if (width === iconPixels && height === iconPixels) return;
  throw new UserError("invalid", `This picture has ${width} × ${height} pixels. ${remedy}`);
}
