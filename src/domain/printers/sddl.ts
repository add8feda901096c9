import type { FieldReader } from "../fields.ts";

/** Permissions of a queue in Microsoft's Security Descriptor Definition Language. */
export const sddlRule = { label: "Queue permissions", maxLength: 2000 };

const example = "Example: G:SYD:(A;;LCSWSDRCWDWO;;;BA)(A;;SWRC;;;WD).";

/** Reads a security descriptor. It must let somebody print: otherwise nobody could use the queue. */
export function readSddl(form: FieldReader, name: string): string {
  const typed = form.text(name, sddlRule);
  const problem = typed === "" ? undefined : sddlProblem(typed);
  if (problem === undefined) return typed;
  form.refuse(name, `${sddlRule.label} ${problem} ${example}`);
  return "";
}

/** Owner, group, DACL and SACL, each at most once and in this order. */
const descriptor =
  /^(?:O:(?<owner>[^:]*?))?(?:G:(?<group>[^:]*?))?(?:D:(?<dacl>[^:]*?))?(?:S:(?<sacl>[^:]*))?$/;

/** The problem, as the end of a sentence that begins with the field. Undefined for a valid text. */
function sddlProblem(text: string): string | undefined {
  const { owner, group, dacl, sacl } = descriptor.exec(text)?.groups ?? {};
  if ((owner ?? group ?? dacl ?? sacl) === undefined)
    return `is “${shortened(text)}”, not the parts O:, G:, D: and S: in this order.`;
  for (const sid of [owner, group])
    if (sid !== undefined && !isSid(sid)) return `names “${shortened(sid)}”, which is no SID.`;
  if (dacl === undefined) return "has no list of permissions. Add a part D:.";
  const [allowed, audited] = [readList(dacl, ["A", "D"]), readList(sacl ?? "", ["AU"])];
  const problem = allowed.problem ?? audited.problem;
  if (problem !== undefined) return problem;
  return allowed.entries.some(letsPrint) ? undefined : "lets nobody print. Allow SW to a SID.";
}

/**
 * Reads the flags and the entries of an access control list.
 * @param types those that the list may contain
 * @returns the fields of each entry, and the first problem
 */
function readList(text: string, types: readonly string[]) {
  const start = text.indexOf("(");
  const [flags, list] = start === -1 ? [text, ""] : [text.slice(0, start), text.slice(start)];
  if (!/^(?:P|AR|AI)*$/.test(flags))
    return { entries: [], problem: `has the unknown flags “${shortened(flags)}”.` };
  const between = list.replace(/\([^()]*\)/g, "");
  if (between !== "") return { entries: [], problem: `has “${shortened(between)}” outside its entries.` };
  const entries = [...list.matchAll(/\(([^()]*)\)/g)].map(([, entry = ""]) => entry.split(";"));
  const problems = entries.flatMap((fields) => entryProblem(fields, types) ?? []);
  return { entries, problem: problems[0] };
}

/** Object and conditional entries are refused: queues have none. */
function entryProblem(fields: readonly string[], types: readonly string[]): string | undefined {
  const has = `has the entry “${shortened(fields.join(";"))}”`;
  const [type = "", flags = "", rights = "", object, inherited, sid = ""] = fields;
  if (fields.length !== 6) return `${has} with ${fields.length} fields instead of 6.`;
  if (!types.includes(type)) return `${has} of the type “${type}”. Use ${types.join(" or ")}.`;
  if (!/^(?:CI|OI|NP|IO|ID|SA|FA)*$/.test(flags)) return `${has} with the unknown flags “${flags}”.`;
  if (maskOf(rights) === undefined) return `${has} with the unknown rights “${rights}”.`;
  if (object !== "" || inherited !== "") return `${has} for an object. Leave its fields 4 and 5 empty.`;
  return isSid(sid) ? undefined : `${has} with “${sid}”, which is no SID.`;
}

/** The bit of each right. Windows maps generic rights of a queue to bits that include those for printing. */
const rightBits: Readonly<Record<string, number>> = {
  ...{ CC: 1, DC: 2, LC: 4, SW: 8, RP: 0x10, WP: 0x20, DT: 0x40, LO: 0x80, CR: 0x100 },
  ...{ SD: 0x10000, RC: 0x20000, WD: 0x40000, WO: 0x80000 },
  ...{ GA: 0xf000c, GR: 0x20008, GW: 0x20008, GX: 0x20008 },
  ...{ FA: 0x1f01ff, FR: 0x120089, FW: 0x120116, FX: 0x1200a0 },
  ...{ KA: 0xf003f, KR: 0x20019, KW: 0x20006, KX: 0x20019 },
};

const printBit = 8;
const genericBits = 0xf0000000;

/** Undefined if the text is neither a number nor a list of rights. */
function maskOf(rights: string): number | undefined {
  if (/^0x[0-9a-f]{1,8}$/i.test(rights)) return Number(rights);
  const codes = rights.match(/../g) ?? [];
  if (rights.length % 2 > 0 || codes.length === 0) return undefined;
  let mask = 0;
  for (const code of codes) {
    const bit = Object.hasOwn(rightBits, code) ? rightBits[code] : undefined;
    if (bit === undefined) return undefined;
    mask |= bit;
  }
  return mask;
}

/** An entry that is only inherited does not apply to the queue itself. */
function letsPrint([type, flags = "", rights = ""]: readonly string[]): boolean {
  const isOnlyInherited = /^(?:..)*IO/.test(flags);
  return type === "A" && !isOnlyInherited && ((maskOf(rights) ?? 0) & (printBit | genericBits)) !== 0;
}

/** The two letters that Windows has for well-known users and groups. */
const aliases = new Set(
  (
    "AA AC AN AO AP AS AU BA BG BO BU CA CD CG CN CO CY DA DC DD DG DU EA ED EK ER ES HA HI HO IS IU KA LA LG LS LU " +
    "LW ME MP MS MU NO NS NU OW PA PO PS PU RA RC RD RE RM RO RS RU SA SI SO SS SU SY UD WD WR"
  ).split(" "),
);

function isSid(text: string): boolean {
  if (aliases.has(text)) return true;
  const numbers = /^S-1-(\d{1,15}(?:-\d{1,10}){1,15})$/.exec(text)?.[1]?.split("-") ?? [];
  return numbers.length > 1 && numbers.slice(1).every((number) => Number(number) <= 0xffffffff);
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
