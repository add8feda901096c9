import { isIP, isIPv4, isIPv6 } from "node:net";

/** Removes the brackets of a typed IPv6 address. */
export function cleanAddress(typed: string): string {
  return typed.replace(/^\[(.*)\]$/, "$1");
}

/** Whether a text is an IPv4 address, an IPv6 address without a zone, or a host name. */
export function isAddress(text: string): boolean {
  return (isIP(text) !== 0 && !text.includes("%")) || isHostName(text);
}

/**
 * What is wrong with an IPv4 address such as `10.0.0.009`, and the right one; undefined for any other text. Some
 * programs read numbers with leading zeros as octal.
 */
export function leadingZerosProblem(text: string): string | undefined {
  const plain = text.replace(/(?<!\d)0+(?=\d)/g, "");
  if (plain === text || !isIPv4(plain)) return undefined;
  return `has leading zeros, which some programs read as octal. Remove the zeros: ${plain}`;
}

/** An IP address in canonical spelling (RFC 5952); undefined for anything else, also for an address with a zone. */
export function canonicalAddress(text: string): string | undefined {
  if (isIP(text) === 0 || text.includes("%")) return undefined;
  return isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;
}

/** The canonical address of a connection or header: without a zone, and IPv4-mapped IPv6 as IPv4. */
export function plainAddress(text: string): string | undefined {
  const canonical = text.length > 100 ? undefined : canonicalAddress(text.split("%")[0] ?? "");
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical ?? "");
  if (mapped === null) return canonical;
  const [high, low] = mapped.slice(1).map((group) => Number.parseInt(group, 16));
  return [high, low].flatMap((group = 0) => [group >> 8, group & 0xff]).join(".");
}

/** An address as numbers: 4 bytes for IPv4, 8 groups of 16 bits for IPv6; undefined for anything else. */
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

/** The prefix length after the slash in CIDR notation; NaN if it is not a number. */
export function prefixLength(text: string): number {
  return /^(?:0|[1-9]\d{0,2})$/.test(text) ? Number(text) : Number.NaN;
}

/** The default port name for an address. The page's script uses the same rule. */
export function derivePortName(address: string): string {
  return address === "" ? "" : `IP_${address}`;
}

/** Whether a host in a setting or URL is this machine. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|\[::1\])$/i.test(host);
}

function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, "").split(".");
  if (/^\d+$/.test(labels.at(-1) ?? "")) return false;
  return labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
}

/** The network that counts as one client for limits: the address itself for IPv4, the /64 for IPv6. */
export function hostNetwork(address: string): string {
  const plain = plainAddress(address) ?? address;
  return isIPv6(plain) ? firstNumbers(plain, 4) : plain;
}

/** The network by which failed sign-ins are counted: the /24 for IPv4, the /64 for IPv6. */
export function signInNetwork(address: string): string {
  const network = hostNetwork(address);
  return isIPv4(network) ? firstNumbers(network, 3) : network;
}

/** The first `count` groups of an IPv6 address, or bytes of an IPv4 address, as text. */
function firstNumbers(address: string, count: number): string {
  const numbers = numbersOf(address)?.slice(0, count) ?? [];
  return isIPv6(address) ? numbers.map((group) => group.toString(16)).join(":") : numbers.join(".");
}
