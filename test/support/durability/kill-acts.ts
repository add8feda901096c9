import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";
import type { Harness, Made } from "./kill-facts.ts";
import { addAccount, disableOrEnable, endSession, withPasswords } from "./kill-people.ts";
import { type Act, type Ask, idOf, isThere, make, nameOf, oneOfMine, write } from "./kill-writes.ts";

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Acts by how often each is done: what takes so long that the others would be over before stands apart. */
const sorts: Record<LifeSort, readonly (readonly [number, Act])[]> = {
  quick: [
    [6, addClient],
    [1, addDriver],
    [4, addPrinters],
    [6, changeIcon],
    [2, addToken],
    [2, endLinks],
    [2, addAccount],
    [3, disableOrEnable],
    [9, removal()],
  ],
  drivers: [
    [2, addDriver],
    [2, removal("driver")],
  ],
  passwords: [...withPasswords, [1, removal("session")]],
};

/** What is written to the service in one of its lives. */
export type LifeSort = "quick" | "drivers" | "passwords";

/** Writes one thing after the other until the service is gone. */
export async function send(url: string, harness: Harness, sender: number, sort: LifeSort): Promise<void> {
  const acts = sorts[sort].flatMap(([often, act]) => Array.from({ length: often }, () => act));
  try {
    for (;;) await acts[harness.random(acts.length)]?.(url, harness, sender);
  } catch (error) {
    if (error instanceof assert.AssertionError) harness.refusals.push(error.message);
  }
}

async function addClient(url: string, harness: Harness, sender: number): Promise<void> {
  const name = `C${harness.count++}`;
  const made = { kind: "client", keys: [`client ${name}`], sender } as const;
  await make(url, harness, made, ({ post }) => post("/clients", { name }));
}

async function addPrinters(url: string, harness: Harness, sender: number): Promise<void> {
  const names = Array.from({ length: 1 + harness.random(20) }, () => `P${harness.count++}`);
  const text = `name,address\n${names.map((name) => `${name},10.0.0.1\n`).join("")}`;
  const made = { kind: "printer", keys: names.map((name) => `printer ${name}`), sender } as const;
  await make(url, harness, made, ({ post }) => post("/import", { text }));
}

/** Of its name in the audit log nothing is known: all have one. */
async function addDriver(url: string, harness: Harness, sender: number): Promise<void> {
  const zip = driverZip({ version: `1.${harness.count++}` });
  const made = { kind: "driver", keys: [`driver ${digest(zip)}`], sender } as const;
  await make(url, harness, made, ({ upload }) => upload("/drivers/upload", zip), []);
}

async function addToken(url: string, harness: Harness, sender: number): Promise<void> {
  const name = `T${harness.count++}`;
  const made = { kind: "token", keys: [`token ${name}`], sender } as const;
  await make(url, harness, made, ({ post }) => post("/tokens", { name, scope: "read", days: "30" }));
}

/** Gives the first printer of an import an icon, or takes it away. */
async function changeIcon(url: string, harness: Harness, sender: number): Promise<void> {
  const printer = oneOfMine(harness, sender, "printer");
  if (printer === undefined) return;
  const [name, path] = [nameOf(printer), `/printers/${idOf(harness, printer)}/icon`];
  const key = `icon ${name}`;
  printer.also.add(key);
  const png = makePng(256, 256, harness.count++);
  await write(
    url,
    harness,
    isThere(harness, key)
      ? {
          ...{ what: "an icon that is taken away", keys: [key], fact: "gone", told: [`deleted ${key}`] },
          ask: ({ fetch }) => fetch(path, { method: "DELETE" }),
        }
      : {
          ...{ what: "an icon", keys: [key], fact: "there", told: [`created ${key}`] },
          ask: ({ upload }) => upload(path, png, "icon.png"),
        },
  );
}

async function endLinks(url: string, harness: Harness, sender: number): Promise<void> {
  const printer = oneOfMine(harness, sender, "printer");
  if (printer === undefined) return;
  const id = idOf(harness, printer);
  let generation = 1;
  while (isThere(harness, `links printer ${id} ${generation}`)) generation++;
  const ask: Ask = ({ post }) => post(`/printers/${id}/links/end`, {});
  const keys = [`links printer ${id} ${generation}`];
  const told = [`links-ended printer ${nameOf(printer)}`];
  await write(url, harness, { what: "links that end", keys, fact: "there", told, ask });
}

function removal(kind?: Made["kind"]): Act {
  return async (url, harness, sender) => {
    const one = oneOfMine(harness, sender, kind);
    if (one !== undefined) await remove(url, harness, one);
  };
}

/** Deletes something that a sender has to itself, and then takes it back, ends it, or leaves it. */
async function remove(url: string, harness: Harness, one: Made): Promise<void> {
  if (one.kind === "session") return endSession(url, harness, one);
  const { kind } = one;
  const id = idOf(harness, one);
  const also = [...one.also].filter((key) => isThere(harness, key));
  const keys = [...one.keys, ...also];
  const ids = one.keys.map((key) => harness.ids.get(key)).join();
  // All drivers have one name.
  const toldAs = (event: string) => (kind === "driver" ? [] : one.keys.map((key) => `${event} ${key}`));
  const asks: Record<typeof kind, Ask> = {
    client: ({ fetch }) => fetch(`/clients/${id}`, { method: "DELETE" }),
    driver: ({ fetch }) => fetch(`/drivers/${id}`, { method: "DELETE" }),
    printer: ({ post }) => post("/printers/bulk", { action: "delete", ids }),
    account: ({ fetch }) => fetch(`/accounts/${id}`, { method: "DELETE" }),
    token: ({ post }) => post(`/tokens/${id}/delete`, {}),
  };
  const deleting = { what: `a deleted ${kind}`, keys, fact: "gone", told: toldAs("deleted") } as const;
  const { text } = await write(url, harness, { ...deleting, ask: asks[kind] });
  const deletion = /\/deletions\/(\d+)\/undo/.exec(text)?.[1];
  const next = deletion === undefined ? 2 : harness.random(3);
  if (next === 0) {
    const ask: Ask = ({ post }) => post(`/deletions/${deletion}/undo`, {});
    const told = toldAs("restored");
    await write(url, harness, { what: `a ${kind} that comes back`, keys, fact: "there", told, ask });
  }
  if (next === 1) {
    const ask: Ask = ({ fetch }) => fetch(`/deletions/${deletion}`, { method: "DELETE" });
    await write(url, harness, { what: "a deletion for good", keys: [], fact: "gone", told: [], ask });
  }
}
