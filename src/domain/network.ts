import { isIPv4, isIPv6 } from "node:net";
import { numbersOf, plainAddress } from "./address.ts";

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
