import { connectRaw, type RawClient } from "../raw.ts";

/** An upload whose speed the test controls. */
export interface SlowUpload extends RawClient {
  /** Sends this many more bytes of the file. */
  send(bytes: number): void;
  /** Sends the rest and returns the response. */
  finish(): Promise<string>;
}

/** Begins to upload a driver, without bytes of the file. */
export async function beginUpload(url: string, file: Buffer): Promise<SlowUpload> {
  const raw = await connectRaw(url);
  const head = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.zip"\r\n\r\n';
  const end = "\r\n--b--\r\n";
  raw.socket.write(
    `POST /drivers/upload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${head.length + file.length + end.length}\r\n\r\n${head}`,
  );
  let sent = 0;
  const send = (bytes: number) => {
    raw.socket.write(file.subarray(sent, sent + bytes));
    sent += bytes;
  };
  const finish = () => {
    send(file.length);
    raw.socket.write(end);
    return raw.closed;
  };
  return { ...raw, send, finish };
}
