import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection on which a test sends any bytes and receives every byte. */
interface RawClient {
  readonly socket: Socket;
  /** Everything received so far. */
  text(): string;
  /** Resolves with everything received when the service has closed the connection. */
  readonly closed: Promise<string>;
  /** Resolves as soon as the received text matches. */
  until(pattern: RegExp): Promise<string>;
}

/** Opens a connection and sends nothing. @param localAddress another address of this machine, to appear as another client */
export async function connectRaw(url: string, localAddress?: string): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port),
    ...(localAddress ? { localAddress } : {}),
  });
  let text = "";
  const waiting: (() => void)[] = [];
  const wake = () => waiting.splice(0).forEach((resume) => void resume());
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
    wake();
  });
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(text)));
  void closed.then(wake);
  const until = async (pattern: RegExp) => {
    while (!pattern.test(text)) {
      if (socket.destroyed) throw new Error(`the connection closed after: ${text.slice(0, 300)}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    return text;
  };
  await once(socket, "connect");
  return { socket, text: () => text, closed, until };
}

/** Sends a request with `Connection: close`, and returns everything received until the service closes. */
export async function exchange(url: string, bytes: Uint8Array | string): Promise<string> {
  const client = await connectRaw(url);
  client.socket.write(bytes);
  return client.closed;
}

/** Sends bytes and disconnects; resolves when the service has closed the connection too. */
export async function hangUpAfter(url: string, bytes: Uint8Array | string): Promise<string> {
  const client = await connectRaw(url);
  client.socket.end(bytes);
  return client.closed;
}

/** A POST request with `Connection: close`. @param options `length`: the stated length, by default the real one */
export function postText(
  path: string,
  type: string,
  body: Uint8Array | string,
  options: { readonly length?: number; readonly host?: string } = {},
): Buffer {
  const bytes = Buffer.from(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${options.host ?? "localhost"}`,
    "Connection: close",
    `Content-Type: ${type}`,
    `Content-Length: ${options.length ?? bytes.length}`,
    "",
    "",
  ].join("\r\n");
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** The status of a raw response; 0 for none. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}
