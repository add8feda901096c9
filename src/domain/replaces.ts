import { canonicalAddress, cleanAddress, isAddress } from "./address.ts";
import { cleanText, type FieldReader } from "./fields.ts";
import { isQueueName, shareNameRule } from "./printer.ts";

/** What a line of “replaces” says, in one spelling, or why it says nothing. */
type ReadReplaced = { readonly replaced: string } | { readonly problem: string };

const addressPrefix = "address:";
const mostServerLength = 253;

/** What a printer replaces, one a line and each once: queues by name, `\\server\queue`, `address:` with an IP address. */
export function parseReplaces(form: FieldReader, name: string): string[] {
  const typed = form.text(name, { label: "Replaces", maxLength: 20_000, multiline: true });
  const problems: string[] = [];
  const replaced = typed.split("\n").flatMap((text, i) => {
    const line = cleanText(text);
    const read = line === "" ? { replaced: "" } : readReplaced(line);
    if ("replaced" in read) return read.replaced;
    problems.push(`Line ${i + 1} of what it replaces, “${line.slice(0, 60)}”, ${read.problem}.`);
    return [];
  });
  form.refuseLines(name, problems);
  return [...new Set(replaced)].filter((line) => line !== "");
}

function readReplaced(line: string): ReadReplaced {
  if (line.startsWith("\\\\")) return readConnection(line);
  if (line.toLowerCase().startsWith(addressPrefix)) return readAddress(line.slice(addressPrefix.length));
  return isQueueName(line) ? { replaced: line } : { problem: "cannot be the name of a local queue" };
}

/** A connection by server and share. */
function readConnection(line: string): ReadReplaced {
  const [server = "", share = "", ...more] = line
    .slice(2)
    .split("\\", 3)
    .map((part) => part.trim());
  if (server === "" || share === "" || more.length > 0)
    return { problem: "is no connection: one is written \\\\server\\queue" };
  if (!isAddress(server) || server.length > mostServerLength)
    return { problem: "names no server: that is a host name or an IP address" };
  const { forbidden, maxLength } = shareNameRule;
  if (share.length > maxLength)
    return { problem: `names a queue of ${share.length} characters; at most ${maxLength} are possible` };
  const bad = [...forbidden].find((character) => share.includes(character));
  if (bad !== undefined) return { problem: `names a queue that cannot be shared: “${bad}” is not possible` };
  return { replaced: `\\\\${server}\\${share}` };
}

function readAddress(typed: string): ReadReplaced {
  const address = canonicalAddress(cleanAddress(typed.trim()));
  if (address !== undefined) return { replaced: addressPrefix + address };
  return { problem: `is no whole IP address behind “${addressPrefix}”, such as ${addressPrefix}10.1.2.3` };
}
