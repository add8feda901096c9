import { canonicalAddress, leadingZerosProblem, numbersOf, prefixLength } from "./address.ts";
import type { FieldReader } from "./fields.ts";

/** The maximum number of subnets in one field. */
export const maxSubnets = 100;

/**
 * Reads a field of subnets in CIDR notation, one a line. The result is in canonical spelling, without duplicates. An
 * address alone is a subnet of one address. Bits set after the prefix are refused, not cleared: the typed prefix may be
 * too short, and would cover far more machines.
 */
export function readSubnets(form: FieldReader, name: string): string[] {
  const typed = form.text(name, { label: "Subnets", maxLength: 10_000, multiline: true });
  const found = new Set<string>();
  const problems: string[] = [];
  for (const [i, line] of typed.split("\n").entries()) {
    if (line.trim() === "") continue;
    const { subnet, problem } = readSubnet(line.trim());
    if (subnet !== undefined) found.add(subnet);
    else problems.push(`Line ${i + 1}: “${line.trim().slice(0, 60)}” ${problem}`);
  }
  form.refuseLines(name, problems);
  if (found.size > maxSubnets)
    form.refuse(name, `${found.size} subnets are too many. The limit is ${maxSubnets}.`);
  return [...found];
}

/** The subnets whose machines get a printer: its own, else its client's; empty means all machines. */
export function effectiveSubnets(
  printer: { readonly subnets: readonly string[] },
  client: { readonly subnets: readonly string[] } | undefined,
): readonly string[] {
  return printer.subnets.length > 0 ? printer.subnets : (client?.subnets ?? []);
}

/** The subnets of several printers that are deployed together. */
export interface CombinedSubnets {
  /** The subnets of all printers, without duplicates. */
  readonly subnets: readonly string[];
  /** How many printers have no subnets. */
  readonly withoutSubnets: number;
  /** Whether all printers have the same subnets. */
  readonly areSame: boolean;
}

/** @param lists each printer's effective subnets @returns undefined if no printer has subnets */
export function combineSubnets(lists: readonly (readonly string[])[]): CombinedSubnets | undefined {
  const subnets = [...new Set(lists.flat())];
  if (subnets.length === 0) return undefined;
  const withoutSubnets = lists.filter((list) => list.length === 0).length;
  const areSame = new Set(lists.map((list) => list.toSorted().join())).size === 1;
  return { subnets, withoutSubnets, areSame };
}

/** What decides which machines get a printer in Intune. */
interface PrinterRequirement {
  readonly subnets: readonly string[];
  readonly requires_reachable: boolean;
}

/** The requirements of several printers that are deployed together. */
export interface CombinedRequirement {
  /** Whether some printers are for every machine. */
  readonly isPartial: boolean;
  /** Whether all printers have the same requirement. */
  readonly areSame: boolean;
  readonly asksReachable: boolean;
}

/** @returns undefined if every printer is for every machine */
export function combineRequirements(
  printers: readonly PrinterRequirement[],
): CombinedRequirement | undefined {
  const asksReachable = printers.some(({ requires_reachable }) => requires_reachable);
  // Each printer has its own address to reach.
  const reachable = (i: number, isAsked: boolean) => (isAsked ? [`printer ${i}`] : []);
  const combined = combineSubnets(
    printers.map((each, i) => [...each.subnets, ...reachable(i, each.requires_reachable)]),
  );
  if (combined === undefined) return undefined;
  return { isPartial: combined.withoutSubnets > 0, areSame: combined.areSame, asksReachable };
}

const examples = "Write 10.1.2.0/24 or fd00:1::/48.";

/** A subnet in canonical spelling, or the problem with the text. */
function readSubnet(text: string): { readonly subnet?: string; readonly problem?: string } {
  const [address = "", prefix, ...more] = text.split("/");
  const bytes = bytesOf(address);
  const zeros = leadingZerosProblem(address);
  if (zeros !== undefined) return { problem: `${zeros}.` };
  if (bytes === undefined || more.length > 0) return { problem: `is not a subnet. ${examples}` };
  const length = prefix === undefined ? bytes.length * 8 : prefixLength(prefix);
  if (!(length <= bytes.length * 8))
    return { problem: `has no prefix length from 0 to ${bytes.length * 8}. ${examples}` };
  const network = bytes.map((byte, i) => byte & maskByte(length, i));
  const subnet = `${textOf(network)}/${length}`;
  if (network.some((byte, i) => byte !== bytes[i])) {
    const choices = `${subnet} for the subnet, or ${textOf(bytes)} for this address.`;
    return { problem: `is an address inside a subnet. Write ${choices}` };
  }
  const unsuitable = unsuitableRanges.find((range) => isWithin(network, length, range));
  return unsuitable === undefined ? { subnet } : { problem: unsuitable.problem };
}

/** The bytes of an IPv4 or IPv6 address without a zone; undefined for anything else. */
function bytesOf(address: string): number[] | undefined {
  const numbers = numbersOf(address);
  return numbers?.length === 8 ? numbers.flatMap((group) => [group >> 8, group & 0xff]) : numbers;
}

function textOf(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  return canonicalAddress(groups.join(":")) ?? "";
}

function maskByte(length: number, index: number): number {
  const bits = Math.max(0, Math.min(8, length - 8 * index));
  return (0xff00 >> bits) & 0xff;
}

const notSpecific = "is a loopback or link-local range. It exists on every PC. Enter a site’s subnet.";
const noMachine = "is a multicast or reserved range. Enter a site’s subnet.";

/** Ranges whose subnets are refused, with the reason. */
const unsuitableRanges = [
  range("127.0.0.0", 8, notSpecific),
  range("::1", 128, notSpecific),
  range("169.254.0.0", 16, notSpecific),
  range("fe80::", 10, notSpecific),
  range("224.0.0.0", 3, noMachine),
  range("ff00::", 8, noMachine),
  range("::ffff:0:0", 96, "is an IPv4 subnet written as IPv6. Write it as IPv4."),
];

function range(address: string, length: number, problem: string) {
  return { network: bytesOf(address) ?? [], length, problem };
}

function isWithin(bytes: readonly number[], length: number, outer: ReturnType<typeof range>): boolean {
  if (bytes.length !== outer.network.length || length < outer.length) return false;
  return outer.network.every((byte, i) => byte === ((bytes[i] ?? 0) & maskByte(outer.length, i)));
}
