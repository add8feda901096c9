import { isIPv4, isIPv6 } from "node:net";

/** Who an address belongs to: IPv4 by itself, however it is written; IPv6 by its first 64 bits, one site's own. */
export function siteOf(address: string): string {
  const mapped = address.slice(address.lastIndexOf(":") + 1);
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(zeros).fill("0"), ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

/** The /48 of an IPv6 site, which a customer is given; undefined for IPv4. */
export function networkOf(site: string): string | undefined {
  return site.includes(":") ? site.split(":").slice(0, 3).join(":") : undefined;
}
