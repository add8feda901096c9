import { networkOf, siteOf } from "../../domain/site.ts";

/** Whose an address is: one IPv4 address or the /64 of an IPv6 host, and of the latter the /48 that a customer is given. */
export function networksOf(address: string): { readonly site: string; readonly network: string | undefined } {
  const site = siteOf(address);
  return { site, network: networkOf(site) };
}
