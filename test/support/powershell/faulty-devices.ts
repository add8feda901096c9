import type { Socket } from "node:net";
import { httpAnswer, ippAnswer, ippValue } from "./ipp-answers.ts";

// Devices that answer IPP requests in unusual or wrong ways.

/** Answers a connection after its whole request has arrived. */
export type Responder = (socket: Socket) => void;

export const respondWith =
  (...pieces: (Buffer | string)[]): Responder =>
  (socket) => {
    for (const piece of pieces) socket.write(piece);
  };

/** Writes `first` once and then `repeated` until the socket is closed. @param every milliseconds; 0: as fast as possible */
function writeEndlessly(first: string, repeated: Buffer | string, every = 0): Responder {
  return (socket) => {
    socket.write(first);
    const write = () => {
      if (socket.destroyed) return;
      const hasRoom = socket.write(repeated);
      if (every > 0) setTimeout(write, every);
      else if (hasRoom) setImmediate(write);
      else socket.once("drain", write);
    };
    write();
  };
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/ipp\r\n";
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
const whole = ippAnswer();
const page = { "Content-Type": "text/html; charset=utf-8" };
const sevens = Array.from({ length: Math.ceil(whole.length / 7) }, (_, i) => {
  const chunk = whole.subarray(i * 7, i * 7 + 7);
  return Buffer.concat([Buffer.from(`${chunk.length.toString(16)};x=1\r\n`), chunk, Buffer.from("\r\n")]);
});
const many = Array.from({ length: 60_000 }, () => ippValue(0x44, "", "x"));
const tooLong = Buffer.from([0x44, 0, 1, 0x61, 0xff, 0xff]);
const model = "printer-make-and-model";
const http = (...given: Parameters<typeof httpAnswer>) => respondWith(httpAnswer(...given));
const withLength = (length: string) => http(whole, { "Content-Length": length });
const ipp = (given: Parameters<typeof ippAnswer>[0]) => http(ippAnswer(given));
const late = /^gave no complete answer in 1\.5 s$/;
const noChunk = /a chunk of its answer has no length/;
const beyond = /a value that is longer than the answer/;

/** What the device does, its responder, and the problem that the script reports. */
export const faultyDevices: [string, Responder, RegExp][] = [
  ["does not answer", () => {}, late],
  ["hangs up at once", (socket) => socket.end(), /hung up before its answer was complete/],
  ["breaks the connection", (socket) => socket.resetAndDestroy(), /^breaks off/],
  ["answers 404", http("no", {}, "404 Not Found"), /^answers HTTP 404$/],
  ["answers 401", http("no", {}, "401 Unauthorized"), /^answers HTTP 401$/],
  ["wants TLS", http("", {}, "426 Upgrade Required"), /^answers HTTP 426$/],
  [
    "answers with a web page",
    http("<html>", page),
    /^answers with text\/html; charset=utf-8, which is not IPP$/,
  ],
  ["answers with another protocol", respondWith("220 papyrus FTP ready\r\n"), /^does not speak HTTP$/],
  ["never ends another protocol", writeEndlessly("", "garbage\r\n".repeat(1000)), /^does not speak HTTP$/],
  [
    "never ends its header",
    writeEndlessly(head, `X-Y: ${"z".repeat(1000)}\r\n`),
    /the head of its answer does not end/,
  ],
  ["sends Continue endlessly", writeEndlessly("", "HTTP/1.1 100 Continue\r\n\r\n"), /./],
  ["never ends its body", writeEndlessly(`${head}\r\n`, Buffer.alloc(65536, 1)), /its answer does not end/],
  [
    "never ends its chunks",
    writeEndlessly(chunked, "1\r\nx\r\n".repeat(10_000)),
    /its answer does not end|answer in 1/,
  ],
  ["announces a gigabyte", withLength("1000000000"), /its answer is too long|is no number/],
  [
    "announces more than it sends",
    (socket) => socket.end(httpAnswer(whole, { "Content-Length": "9999" })),
    /hung up before/,
  ],
  ["announces less than it sends", withLength("40"), /longer than the answer|breaks off|no end/],
  ["announces an invalid length", withLength("-5"), /the length of its answer is no number/],
  ["sends a chunk without a length", respondWith(`${chunked}zz\r\n`), noChunk],
  ["sends a chunk with a far too large length", respondWith(`${chunked}fffffffffffffff\r\nx`), noChunk],
  ["sends a byte every 20 ms endlessly", writeEndlessly(head, "x", 20), late],
  ["sends a chunk every 20 ms endlessly", writeEndlessly(chunked, "1\r\nx\r\n", 20), late],
  ["answers another request", ipp({ requestId: 2 }), /its answer belongs to another request/],
  ["answers with an empty body", http(""), /its answer is too short for IPP/],
  ["sends sixty thousand values", ipp({ values: many }), /its answer has too many values|answer in 1/],
  ["declares a value longer than the answer", ipp({ values: [tooLong] }), beyond],
  [
    "declares a text longer than its value",
    ipp({ values: [ippValue(0x35, model, [0xff, 0xff, 0, 0])] }),
    beyond,
  ],
  ["refuses the request", ipp({ status: 0x0403, values: [] }), /^answers client-error-not-authorized$/],
  ["does not support version 2.0", ipp({ status: 0x0503 }), /^answers server-error-version-not-supported$/],
  ["answers an unknown status", ipp({ status: 0x0599 }), /^answers status 0x0599$/],
];

const lowerCase = httpAnswer(whole).toString("latin1").replace("Content-Length", "content-length");

/** Rare but correct answers. */
export const correctDevices: [string, Responder][] = [
  ["keeps the connection open", http(whole)],
  ["sends chunks of seven bytes", respondWith(chunked, ...sevens, "0\r\n\r\n")],
  ["sends Continue first", respondWith("HTTP/1.1 100 Continue\r\n\r\n", httpAnswer(whole))],
  [
    "sends no length and hangs up",
    (socket) => socket.end(Buffer.concat([Buffer.from(`${head}\r\n`), whole])),
  ],
  [
    "sends its answer in three pieces, slowly",
    (socket) => {
      const bytes = httpAnswer(whole);
      for (const [i, at] of [0, 30, 90].entries())
        setTimeout(() => socket.write(bytes.subarray(at, [30, 90, bytes.length][i])), 100 * i);
    },
  ],
  ["writes its headers in lower case", respondWith(Buffer.from(lowerCase, "latin1"))],
  ["reports that it ignored some attributes", ipp({ status: 1 })],
  ["sends its model with a language", ipp({ values: [ippValue(0x35, model, "\0\x02en\0\x0bPapyrus 100")] })],
];
