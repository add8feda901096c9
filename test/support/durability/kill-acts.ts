import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";
import type { Harness, Made } from "./kill-facts.ts";
import { addAccount, disableOrEnable, endSession, withPasswords } from "./kill-people.ts";
import { type Act, type Ask, anyOwnRecord, exists, idOf, make, nameOf, write } from "./kill-writes.ts";

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Acts with their relative frequency. Slow acts have their own kinds of lives, because a life of quick acts ends too early for them. */
const actsByLife: Record<LifeKind, readonly (readonly [number, Act])[]> = {
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

/** The kind of writes that the service gets in one of its lives. */
export type LifeKind = "quick" | "drivers" | "passwords";

/** Sends one write after another until the service is killed. */
export async function send(url: string, harness: Harness, sender: number, sort: LifeKind): Promise<void> {
  const acts = actsByLife[sort].flatMap(([often, act]) => Array.from({ length: often }, () => act));
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

/** Its entry in the audit log is not checked, because all drivers have the same name. */
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

/** Adds an icon to the first printer of an import, or deletes it. */
async function changeIcon(url: string, harness: Harness, sender: number): Promise<void> {
  const printer = anyOwnRecord(harness, sender, "printer");
  if (printer === undefined) return;
  const [name, path] = [nameOf(printer), `/printers/${idOf(harness, printer)}/icon`];
  const key = `icon ${name}`;
  printer.attached.add(key);
  const png = makePng(256, 256, harness.count++);
  await write(
    url,
    harness,
    exists(harness, key)
      ? {
          ...{ what: "a deleted icon", keys: [key], fact: "gone", changes: [`deleted ${key}`] },
          ask: ({ fetch }) => fetch(path, { method: "DELETE" }),
        }
      : {
          ...{ what: "an icon", keys: [key], fact: "there", changes: [`created ${key}`] },
          ask: ({ upload }) => upload(path, png, "icon.png"),
        },
  );
}

async function endLinks(url: string, harness: Harness, sender: number): Promise<void> {
  const printer = anyOwnRecord(harness, sender, "printer");
  if (printer === undefined) return;
  const id = idOf(harness, printer);
  let generation = 1;
  while (exists(harness, `links printer ${id} ${generation}`)) generation++;
  const ask: Ask = ({ post }) => post(`/printers/${id}/links/end`, {});
  const keys = [`links printer ${id} ${generation}`];
  const changes = [`links-ended printer ${nameOf(printer)}`];
  await write(url, harness, { what: "links that end", keys, fact: "there", changes, ask });
}

function removal(kind?: Made["kind"]): Act {
  return async (url, harness, sender) => {
    const one = anyOwnRecord(harness, sender, kind);
    if (one !== undefined) await remove(url, harness, one);
  };
}

/** Deletes a record that only this sender changes. Then it undoes the deletion, makes it final, or does nothing. */
async function remove(url: string, harness: Harness, one: Made): Promise<void> {
  if (one.kind === "session") return endSession(url, harness, one);
  const { kind } = one;
  const id = idOf(harness, one);
  const also = [...one.attached].filter((key) => exists(harness, key));
  const keys = [...one.keys, ...also];
  const ids = one.keys.map((key) => harness.ids.get(key)).join();
  // All drivers have the same name.
  const changesOf = (event: string) => (kind === "driver" ? [] : one.keys.map((key) => `${event} ${key}`));
  const asks: Record<typeof kind, Ask> = {
    client: ({ fetch }) => fetch(`/clients/${id}`, { method: "DELETE" }),
    driver: ({ fetch }) => fetch(`/drivers/${id}`, { method: "DELETE" }),
    printer: ({ post }) => post("/printers/bulk", { action: "delete", ids }),
    account: ({ fetch }) => fetch(`/accounts/${id}`, { method: "DELETE" }),
    token: ({ post }) => post(`/tokens/${id}/delete`, {}),
  };
  const deleting = { what: `a deleted ${kind}`, keys, fact: "gone", changes: changesOf("deleted") } as const;
  const { text } = await write(url, harness, { ...deleting, ask: asks[kind] });
  const deletion = /\/deletions\/(\d+)\/undo/.exec(text)?.[1];
  const next = deletion === undefined ? 2 : harness.random(3);
  if (next === 0) {
    const ask: Ask = ({ post }) => post(`/deletions/${deletion}/undo`, {});
    const changes = changesOf("restored");
    await write(url, harness, { what: `a restored ${kind}`, keys, fact: "there", changes, ask });
  }
  if (next === 1) {
    const ask: Ask = ({ fetch }) => fetch(`/deletions/${deletion}`, { method: "DELETE" });
    await write(url, harness, { what: "a final deletion", keys: [], fact: "gone", changes: [], ask });
  }
}
