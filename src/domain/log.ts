export const logFormats = ["text", "json"] as const;
/** `LOG_FORMAT` */
export type LogFormat = (typeof logFormats)[number];

/** One answered request, as the log and the metrics have it. It has nothing secret: no address, query or header. */
export interface RequestEntry {
  /** Also in the line about an error of this request. */
  readonly id: string;
  readonly method: string;
  /** The path with the names of its parameters: `/printers/:id`; `-` for an address where nothing is. */
  readonly route: string;
  /** 499 if the client left before the answer ended. */
  readonly status: number;
  /** The bytes sent, with headers; fewer than the size of a download that was broken off. */
  readonly bytes: number;
  /** From the request's headers to the answer's last byte. */
  readonly ms: number;
  /** The sender's name in the audit log. */
  readonly who: string;
}

/** Writes the service's log. Lines have no line break at the end. */
interface Log {
  readonly log: (line: string) => void;
  readonly logRequest: (entry: RequestEntry) => void;
}

/** Characters that can end a line or a quotation, or are invisible. */
const unsafe = /[\p{C}\p{Zl}\p{Zp}“”]/gu;

/** A text from outside for the text log, in quotation marks. It cannot imitate another field or line. */
export function quoted(text: string): string {
  const codePoint = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  return `“${text.replace(unsafe, codePoint)}”`;
}

/** A log in the format of `LOG_FORMAT`. @param write receives whole lines */
export function makeLog(format: LogFormat, write: (text: string) => void, clock: () => number): Log {
  const time = () => new Date(clock()).toISOString();
  if (format === "json") {
    const writeJson = (fields: object) => write(`${JSON.stringify({ time: time(), ...fields })}\n`);
    return { log: (message) => writeJson({ level: levelOf(message), message }), logRequest: writeJson };
  }
  return {
    // Further lines, such as an error's stack, are indented: none of them looks like an entry.
    log: (message) => write(`${time()} ${message.split(/[\n\v\f\r\x85\u2028\u2029]+/).join("\n  ")}\n`),
    logRequest: ({ id, method, route, status, bytes, ms, who }) =>
      write(`${time()} ${id} ${method} ${route} ${status} ${bytes} bytes ${ms} ms ${quoted(who)}\n`),
  };
}

function levelOf(message: string): "info" | "warning" | "error" {
  if (message.startsWith("warning:")) return "warning";
  return /^error [0-9a-f-]+:/.test(message) ? "error" : "info";
}
