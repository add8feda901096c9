import { connectRaw } from "../raw.ts";

/**
 * Begins to upload a driver, without bytes of the file. `send` sends this many more bytes of it; `finish` sends the rest and
 * returns the response.
 */
export async function beginUpload(url: string, file: Buffer) {
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
