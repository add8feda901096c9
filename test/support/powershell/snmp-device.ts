import { createSocket, type Socket } from "node:dgram";

// SNMP version 1 (RFC 1157), as far as a printer's state needs it; written apart from the scripts' own.

interface SnmpRequest {
  readonly version: number;
  readonly community: string;
  readonly id: number;
  /** What is asked for, as `1.3.6.…`. */
  readonly names: readonly string[];
}

/** An element and what is behind it. */
function element(bytes: Buffer): { readonly tag: number; readonly content: Buffer; readonly rest: Buffer } {
  const [tag = 0, first = 0] = bytes;
  const count = first > 128 ? first - 128 : 0;
  const length = count === 0 ? first : bytes.readUIntBE(2, count);
  const start = 2 + count;
  return { tag, content: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) };
}

function elements(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let left = bytes; left.length > 0; ) {
    const { content, rest } = element(left);
    found.push(content);
    left = rest;
  }
  return found;
}

function nameOf(bytes: Buffer): string {
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
  const [version, community, get] = elements(element(bytes).content);
  if (version === undefined || community === undefined || get === undefined) throw new Error("no SNMP");
  const [id, , , list] = elements(get);
  if (id === undefined || list === undefined) throw new Error("no SNMP");
  const names = elements(list).map((variable) => nameOf(elements(variable)[0] ?? Buffer.alloc(0)));
  return {
    version: version[0] ?? -1,
    community: community.toString(),
    id: id.readIntBE(0, id.length),
    names,
  };
}

function ber(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const long = Buffer.from([0x82, content.length >> 8, content.length & 255]);
  return Buffer.concat([
    Buffer.from([tag]),
    content.length < 128 ? Buffer.from([content.length]) : long,
    content,
  ]);
}

const number = (value: number) => ber(2, Buffer.from([value]));

/** An answer that gives each name a number. */
export function snmpAnswer({
  id = 1,
  error = 0,
  values = [2, 3],
}: {
  id?: number;
  error?: number;
  values?: number[];
} = {}): Buffer {
  const variables = values.map((value) => ber(0x30, ber(6, Buffer.from([43, 6, 1])), number(value)));
  const response = ber(0xa2, number(id), number(error), number(0), ber(0x30, ...variables));
  return ber(0x30, number(0), ber(4, Buffer.from("public")), response);
}

/** A device on UDP that answers each request with these datagrams. */
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
