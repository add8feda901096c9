import { createSocket, type Socket } from "node:dgram";

// SNMP version 1 (RFC 1157), as far as a printer's state needs it. The scripts have their own, independent code.

/** A BER element. */
function element(tag: number, ...parts: readonly (Buffer | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { length } = content;
  return Buffer.concat([
    Buffer.from(length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255]),
    content,
  ]);
}

const number = (value: number) => element(2, [value]);

function message(
  community: string,
  kind: number,
  error: number,
  oid: readonly number[],
  value: Buffer,
): Buffer {
  const list = element(0x30, element(0x30, element(6, oid), value));
  const body = element(kind, number(1), number(error), number(0), list);
  return element(0x30, number(0), element(4, Buffer.from(community)), body);
}

/** The request for hrDeviceStatus. @param index the bytes of the device's index in an OID */
export const snmpRequest = (community: string, index: readonly number[]) =>
  message(community, 0xa0, 0, [43, 6, 1, 2, 1, 25, 3, 2, 1, 5, ...index], element(5));

/** An answer with this value of the device's status. @param value null: none, as beside an error */
export const snmpAnswer = ({ error = 0, value = 2 }: { error?: number; value?: number | null } = {}) =>
  message("public", 0xa2, error, [43, 6, 1], value === null ? element(5) : number(value));

/** A UDP server on loopback that answers each request with the datagrams of `answers`. */
export class SnmpDevice {
  readonly requests: Buffer[] = [];
  readonly #socket: Socket = createSocket("udp4");
  port = 0;

  static async start(answers: (request: number) => readonly Buffer[]): Promise<SnmpDevice> {
    const device = new SnmpDevice();
    const socket = device.#socket;
    socket.on("message", (bytes, { port, address }) => {
      const count = device.requests.push(bytes);
      for (const answer of answers(count)) socket.send(answer, port, address);
    });
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    device.port = socket.address().port;
    return device;
  }

  close(): void {
    this.#socket.close();
  }
}
