import type { Socket } from "node:net";
import { httpAnswer, ippAnswer, ippValue } from "./ipp-answers.ts";

// Devices that answer a question by IPP in their own way.

/** Answers every connection in its way, as soon as the whole request is there. */
export type Manner = (socket: Socket) => void;

export const says =
  (...pieces: (Buffer | string)[]): Manner =>
  (socket) => {
    for (const piece of pieces) socket.write(piece);
  };

/** Writes something again and again, until the other side has gone. */
function endlessly(first: Buffer | string, again: Buffer | string, every = 0): Manner {
  return (socket) => {
    socket.write(first);
    const write = () => {
      if (socket.destroyed) return;
      const isTaken = socket.write(again);
      if (every > 0) setTimeout(write, every);
      else if (isTaken) setImmediate(write);
      else socket.once("drain", write);
    };
    write();
  };
}

const html = httpAnswer("<html>Papyrus</html>", { "Content-Type": "text/html; charset=utf-8" });
const head = "HTTP/1.1 200 OK\r\nContent-Type: application/ipp\r\n";
const chunkedHead = `${head}Transfer-Encoding: chunked\r\n\r\n`;
const whole = ippAnswer();
const chunksOf = (bytes: Buffer, size: number) =>
  Buffer.concat(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => {
      const chunk = bytes.subarray(i * size, (i + 1) * size);
      return Buffer.concat([Buffer.from(`${chunk.length.toString(16)};x=1\r\n`), chunk, Buffer.from("\r\n")]);
    }),
  );
const many = Array.from({ length: 60_000 }, () => ippValue(0x44, "", "x"));

/** Each with what is said of it. */
export const liars: [string, Manner, RegExp][] = [
  ["says nothing", () => {}, /^gave no complete answer in 1\.5 s$/],
  ["hangs up at once", (socket) => socket.end(), /hung up before its answer was complete/],
  ["breaks the connection", (socket) => socket.resetAndDestroy(), /^breaks off/],
  ["answers 404", says(httpAnswer("no", {}, "404 Not Found")), /^answers HTTP 404$/],
  ["answers 401", says(httpAnswer("no", {}, "401 Unauthorized")), /^answers HTTP 401$/],
  ["wants TLS", says(httpAnswer("", {}, "426 Upgrade Required")), /^answers HTTP 426$/],
  ["shows a web page", says(html), /^answers with text\/html; charset=utf-8, which is not IPP$/],
  ["speaks something else", says("220 papyrus FTP ready\r\n"), /^does not speak HTTP$/],
  ["speaks something else without end", endlessly("", "garbage\r\n".repeat(1000)), /^does not speak HTTP$/],
  [
    "never ends its head",
    endlessly(head, `X-Y: ${"z".repeat(1000)}\r\n`),
    /the head of its answer does not end/,
  ],
  ["never stops to say Continue", endlessly("", "HTTP/1.1 100 Continue\r\n\r\n"), /./],
  ["never ends its body", endlessly(`${head}\r\n`, Buffer.alloc(65536, 1)), /its answer does not end/],
  [
    "never ends its chunks",
    endlessly(chunkedHead, "1\r\nx\r\n".repeat(10_000)),
    /its answer does not end|gave no complete answer in 1/,
  ],
  [
    "promises a gigabyte",
    says(`${head}Content-Length: 1000000000\r\n\r\n`),
    /its answer is too long|is no number/,
  ],
  [
    "promises more than it sends",
    (socket) => socket.end(httpAnswer(whole, { "Content-Length": "9999" })),
    /hung up before/,
  ],
  [
    "promises less than it sends",
    says(httpAnswer(whole, { "Content-Length": "40" })),
    /longer than the answer|breaks off|no end/,
  ],
  [
    "promises a length that is none",
    says(httpAnswer(whole, { "Content-Length": "-5" })),
    /the length of its answer is no number/,
  ],
  ["gives a chunk no length", says(`${chunkedHead}zz\r\n`), /a chunk of its answer has no length/],
  [
    "gives a chunk a length beyond all numbers",
    says(`${chunkedHead}fffffffffffffff\r\nx`),
    /a chunk of its answer has no length/,
  ],
  ["drips byte by byte for a minute", endlessly(head, "x", 20), /^gave no complete answer in 1\.5 s$/],
  [
    "drips chunks for a minute",
    endlessly(chunkedHead, "1\r\nx\r\n", 20),
    /^gave no complete answer in 1\.5 s$/,
  ],
  [
    "answers another request",
    says(httpAnswer(ippAnswer({ requestId: 2 }))),
    /its answer belongs to another request/,
  ],
  ["answers with nothing", says(httpAnswer("")), /its answer is too short for IPP/],
  [
    "sends sixty thousand values",
    says(httpAnswer(ippAnswer({ values: many }))),
    /its answer has too many values|gave no complete answer in 1/,
  ],
  [
    "names a value longer than everything",
    says(httpAnswer(ippAnswer({ values: [Buffer.from([0x44, 0, 1, 0x61, 0xff, 0xff])] }))),
    /a value that is longer than the answer/,
  ],
  [
    "names a text longer than its value",
    says(
      httpAnswer(
        ippAnswer({ values: [ippValue(0x35, "printer-make-and-model", Buffer.from([0xff, 0xff, 0, 0]))] }),
      ),
    ),
    /a text that is longer than its value/,
  ],
  [
    "refuses",
    says(httpAnswer(ippAnswer({ status: 0x0403, values: [] }))),
    /^answers client-error-not-authorized$/,
  ],
  [
    "knows no version 2.0",
    says(httpAnswer(ippAnswer({ status: 0x0503 }))),
    /^answers server-error-version-not-supported$/,
  ],
  ["has a status of its own", says(httpAnswer(ippAnswer({ status: 0x0599 }))), /^answers status 0x0599$/],
];

/** Ways of being right that are seldom met. */
export const honest: [string, Manner][] = [
  ["keeps the connection open", says(httpAnswer(whole))],
  ["sends chunks of seven bytes", says(chunkedHead, chunksOf(whole, 7), "0\r\n\r\n")],
  ["says Continue first", says("HTTP/1.1 100 Continue\r\n\r\n", httpAnswer(whole))],
  [
    "gives no length and hangs up",
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
  [
    "writes its headers in small letters",
    says(
      Buffer.from(httpAnswer(whole).toString("latin1").replace("Content-Length", "content-length"), "latin1"),
    ),
  ],
  ["ignores some attributes and says so", says(httpAnswer(ippAnswer({ status: 1 })))],
  [
    "writes its model in a language",
    says(
      httpAnswer(
        ippAnswer({ values: [ippValue(0x35, "printer-make-and-model", "\0\x02en\0\x0bPapyrus 100")] }),
      ),
    ),
  ],
];
