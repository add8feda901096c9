import type { MessagePort } from "node:worker_threads";
import type { ByteSource } from "../domain/byte-source.ts";
import {
  Authentication,
  encryptAll,
  type Seal,
  type SealKeys,
  sealedChunkBytes,
} from "../pkg/formats/intunewin.ts";
import type { Layout } from "../pkg/zip/layout.ts";
import { buffersUsed } from "./memory.ts";

/**
 * A package's first pass on two threads: one encrypts into rooms of shared memory, the other authenticates
 * what stands in them. Full rooms go one way through a channel, empty ones come back.
 */
type Message = { readonly room: number; readonly length: number } | "end" | "failed";

const roomCount = 4;

/** The shared rooms between the two threads. */
export function makeRooms(): Uint8Array[] {
  return Array.from({ length: roomCount }, () => new Uint8Array(new SharedArrayBuffer(sealedChunkBytes)));
}

/** What one of the two threads works with. */
export interface Half {
  readonly layout: Layout;
  readonly keys: SealKeys;
  readonly rooms: readonly Uint8Array[];
  readonly port: MessagePort;
}

/** The encrypting thread: its checkpoints. */
export function encryptHalf(
  { layout, keys, rooms, port }: Half,
  sources: readonly ByteSource[],
): Promise<Uint8Array> {
  const inbox = new Inbox(port);
  const free = rooms.map((_, room) => room);
  let current = 0;
  const place = async () => {
    const room = free.pop() ?? (await inbox.next()).room;
    current = room;
    return present(rooms[room]);
  };
  const done = (sealed: Uint8Array) => {
    buffersUsed(sealed.length);
    port.postMessage({ room: current, length: sealed.length } satisfies Message);
  };
  return finishing(port, async () => {
    const checkpoints = await encryptAll(layout, sources, keys, place, done);
    port.postMessage("end" satisfies Message);
    return checkpoints;
  });
}

/** The authenticating thread: everything but the checkpoints. */
export function authenticateHalf(
  { layout, keys, rooms, port }: Half,
  sources: readonly ByteSource[],
): Promise<Omit<Seal, "checkpoints">> {
  const inbox = new Inbox(port);
  const authentication = new Authentication(layout, sources, keys);
  return finishing(port, async () => {
    for (let message = await inbox.take(); message !== "end"; message = await inbox.take()) {
      await authentication.take(present(rooms[message.room]).subarray(0, message.length));
      port.postMessage({ room: message.room, length: 0 } satisfies Message);
    }
    return authentication.finish();
  });
}

/** Whatever ends one half ends the other: nobody waits for a room that never comes. */
async function finishing<T>(port: MessagePort, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    port.postMessage("failed" satisfies Message);
    throw error;
  } finally {
    // The last messages still have to arrive.
    setImmediate(() => port.close());
  }
}

/** Messages that came, and who waits for the next one. */
class Inbox {
  readonly #messages: Message[] = [];
  #wake: (() => void) | undefined;

  constructor(port: MessagePort) {
    port.on("message", (message: Message) => {
      this.#messages.push(message);
      this.#wake?.();
    });
    port.on("close", () => {
      this.#messages.push("failed");
      this.#wake?.();
    });
  }

  async take(): Promise<Exclude<Message, "failed">> {
    while (this.#messages.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const message = this.#messages.shift();
    if (message === undefined || message === "failed")
      throw new Error("the other half of a first pass failed");
    return message;
  }

  async next(): Promise<Exclude<Message, "failed" | "end">> {
    const message = await this.take();
    if (message === "end") throw new Error("the other half of a first pass ended too early");
    return message;
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("there is no such room");
  return value;
}
