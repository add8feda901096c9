import { connectRaw, type RawClient } from "../raw.ts";

/** An upload that comes as slowly as a test wants. */
export interface SlowUpload extends RawClient {
  /** Sends so many bytes more of the file. */
  send(bytes: number): void;
  /** Sends the rest, and answers what the service says. */
  finish(): Promise<string>;
}

/** Begins to upload a driver, of which nothing is sent yet. */
export async function beginUpload(url: string, file: Buffer): Promise<SlowUpload> {
  const raw = await connectRaw(url);
  const head = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.zip"\r\n\r\n';
  const tail = "\r\n--b--\r\n";
  raw.socket.write(
    `POST /drivers/upload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${head.length + file.length + tail.length}\r\n\r\n${head}`,
  );
  let sent = 0;
  const send = (bytes: number) => {
    raw.socket.write(file.subarray(sent, sent + bytes));
    sent += bytes;
  };
  const finish = () => {
    send(file.length);
    raw.socket.write(tail);
    return raw.closed;
  };
  return { ...raw, send, finish };
}
