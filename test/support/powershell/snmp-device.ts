import { createSocket, type Socket } from "node:dgram";

// SNMP version 1 (RFC 1157), as far as a printer's state needs it. The scripts have their own, independent code.

interface SnmpRequest {
  readonly version: number;
  readonly community: string;
  readonly id: number;
  /** The requested OIDs: `1.3.6.…`. */
  readonly oids: readonly string[];
}

/** The first BER element, and the bytes after it. */
function readElement(bytes: Buffer): {
  readonly tag: number;
  readonly content: Buffer;
  readonly rest: Buffer;
} {
  const [tag = 0, first = 0] = bytes;
  const count = first > 128 ? first - 128 : 0;
  const length = count === 0 ? first : bytes.readUIntBE(2, count);
  const start = 2 + count;
  return { tag, content: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) };
}

function readElements(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let left = bytes; left.length > 0; ) {
    const { content, rest } = readElement(left);
    found.push(content);
    left = rest;
  }
  return found;
}

function decodeOid(bytes: Buffer): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of bytes) {
    number = number * 128 + (byte & 127);
    if (byte < 128) {
      numbers.push(number);
      number = 0;
    }
  }
  const [first = 0, ...others] = numbers;
  return [Math.floor(first / 40), first % 40, ...others].join(".");
}

function readRequest(bytes: Buffer): SnmpRequest {
  const [version, community, get] = readElements(readElement(bytes).content);
  if (version === undefined || community === undefined || get === undefined) throw new Error("no SNMP");
  const [id, , , list] = readElements(get);
  if (id === undefined || list === undefined) throw new Error("no SNMP");
  const oids = readElements(list).map((variable) => decodeOid(readElements(variable)[0] ?? Buffer.alloc(0)));
  return {
    version: version[0] ?? -1,
    community: community.toString(),
    id: id.readIntBE(0, id.length),
    oids,
  };
}

function encodeElement(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const long = Buffer.from([0x82, content.length >> 8, content.length & 255]);
  return Buffer.concat([
    Buffer.from([tag]),
    content.length < 128 ? Buffer.from([content.length]) : long,
    content,
  ]);
}

const number = (value: number) => encodeElement(2, Buffer.from([value]));

/** An answer with this value of the device's status. @param value null: none, as beside an error */
export function snmpAnswer({ error = 0, value = 2 }: { error?: number; value?: number | null } = {}): Buffer {
  const status = value === null ? encodeElement(5) : number(value);
  const variable = encodeElement(0x30, encodeElement(6, Buffer.from([43, 6, 1])), status);
  const list = encodeElement(0x30, variable);
  const response = encodeElement(0xa2, number(1), number(error), number(0), list);
  return encodeElement(0x30, number(0), encodeElement(4, Buffer.from("public")), response);
}

/** A UDP server on loopback that answers each request with the datagrams of `answers`. */
export class SnmpDevice {
  readonly requests: SnmpRequest[] = [];
  readonly #socket: Socket = createSocket("udp4");
  port = 0;

  static async start(answers: () => readonly Buffer[]): Promise<SnmpDevice> {
    const device = new SnmpDevice();
    const socket = device.#socket;
    socket.on("message", (bytes, { port, address }) => {
      device.requests.push(readRequest(bytes));
      for (const answer of answers()) socket.send(answer, port, address);
    });
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    device.port = socket.address().port;
    return device;
  }

  close(): void {
    this.#socket.close();
  }
}
