import { isIP, isIPv6 } from "node:net";

/** An address as it is kept: an IPv6 address can be typed in brackets. */
export function cleanAddress(typed: string): string {
  return typed.replace(/^\[(.*)\]$/, "$1");
}

/** Whether it is an IPv4 or IPv6 address, without a zone, or a host name. */
export function isAddress(text: string): boolean {
  return (isIP(text) !== 0 && !text.includes("%")) || isHostName(text);
}

/** An IP address in its one spelling (RFC 5952); undefined for anything else, also for one with a zone. */
export function canonicalAddress(text: string): string | undefined {
  if (isIP(text) === 0 || text.includes("%")) return undefined;
  return isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;
}

/** The port's name that goes with an address where none was typed. The page's script does the same. */
export function derivePortName(address: string): string {
  return address === "" ? "" : `IP_${address}`;
}

function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, "").split(".");
  if (/^\d+$/.test(labels.at(-1) ?? "")) return false;
  return labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
}
