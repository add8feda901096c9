import { isIP, isIPv4, isIPv6 } from "node:net";

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

/** The same of what a connection or a header says: IPv4 as such however it is written, and without a zone. */
export function plainAddress(text: string): string | undefined {
  const canonical = text.length > 100 ? undefined : canonicalAddress(text.split("%")[0] ?? "");
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical ?? "");
  if (mapped === null) return canonical;
  const [high, low] = mapped.slice(1).map((group) => Number.parseInt(group, 16));
  return [high, low].flatMap((group = 0) => [group >> 8, group & 0xff]).join(".");
}

/** The numbers that an IPv4 or IPv6 address without a zone consists of: 4 bytes, or 8 groups of two. */
export function numbersOf(address: string): number[] | undefined {
  const spelled = canonicalAddress(address);
  if (spelled === undefined || isIPv4(spelled)) return spelled?.split(".").map(Number);
  const [head = [], tail] = spelled.split("::").map(groupsIn);
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<number>(zeros).fill(0), ...(tail ?? [])];
}

function groupsIn(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

/** The length of a prefix, as CIDR has it behind the slash; NaN for what is none. */
export function prefixLength(text: string): number {
  return /^(?:0|[1-9]\d{0,2})$/.test(text) ? Number(text) : Number.NaN;
}

/** The port's name that goes with an address where none was typed. The page's script does the same. */
export function derivePortName(address: string): string {
  return address === "" ? "" : `IP_${address}`;
}

/** Whether a host, as settings and URLs name it, is the machine itself. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|\[::1\])$/i.test(host);
}

function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, "").split(".");
  if (/^\d+$/.test(labels.at(-1) ?? "")) return false;
  return labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
}

/** Who an address belongs to: IPv4 by itself, however it is written; IPv6 by its first 64 bits, one site's own. */
export function siteOf(address: string): string {
  const plain = plainAddress(address) ?? address;
  return isIPv6(plain) ? firstOf(plain, 4) : plain;
}

/** The network that failed attempts of an address are counted by: an IPv4 /24, or an IPv6 /64. */
export function subnetOf(address: string): string {
  const site = siteOf(address);
  return isIPv4(site) ? firstOf(site, 3) : site;
}

/** The first groups of an IPv6 address, or bytes of an IPv4 address, as text. */
function firstOf(address: string, count: number): string {
  const numbers = numbersOf(address)?.slice(0, count) ?? [];
  return isIPv6(address) ? numbers.map((group) => group.toString(16)).join(":") : numbers.join(".");
}
