/** Encodes a value of an IPP attribute (RFC 8010). @param name empty for a further value of the same attribute */
export function ippValue(tag: number, name: string, content: string | readonly number[]): Buffer {
  const [key, value] = [Buffer.from(name), Buffer.from(content as string)];
  return Buffer.concat([Buffer.from([tag]), length(key), key, length(value), value]);
}

const length = (bytes: Buffer) => Buffer.from([bytes.length >> 8, bytes.length & 255]);

interface IppAnswer {
  readonly status?: number;
  readonly requestId?: number;
  readonly values?: readonly Buffer[];
}

/** An answer to Get-Printer-Attributes; by default that of a healthy printer. */
export function ippAnswer({ status = 0, requestId = 1, values = healthyAttributes }: IppAnswer = {}): Buffer {
  return Buffer.concat([
    Buffer.from([2, 0, status >> 8, status & 255, 0, 0, requestId >> 8, requestId & 255]),
    // The groups: operation, printer, end.
    Buffer.from([1]),
    ippValue(0x47, "attributes-charset", "utf-8"),
    ippValue(0x48, "attributes-natural-language", "en"),
    Buffer.from([4]),
    ...values,
    Buffer.from([3]),
  ]);
}

const healthyAttributes = [
  ippValue(0x41, "printer-make-and-model", "Papyrus 100"),
  ippValue(0x23, "printer-state", [0, 0, 0, 3]),
  ippValue(0x44, "printer-state-reasons", "none"),
  ippValue(0x22, "printer-is-accepting-jobs", [1]),
  ippValue(0x49, "document-format-supported", "image/urf"),
  ippValue(0x49, "", "image/pwg-raster"),
  ippValue(0x34, "media-col-default", ""),
  ippValue(0x4a, "", "media-size"),
  ippValue(0x34, "", ""),
  ippValue(0x4a, "", "x-dimension"),
  ippValue(0x21, "", [0, 0, 0x52, 8]),
  ippValue(0x37, "", ""),
  ippValue(0x37, "", ""),
  ippValue(0x44, "ipp-versions-supported", "1.1"),
  ippValue(0x44, "", "2.0"),
  ippValue(0x44, "ipp-features-supported", "ipp-everywhere"),
];

/** @param head header fields that are added or replaced */
export function httpAnswer(
  body: Buffer | string,
  head: Record<string, string> = {},
  status = "200 OK",
): Buffer {
  const bytes = Buffer.from(body as string);
  const fields = { "Content-Type": "application/ipp", "Content-Length": String(bytes.length), ...head };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`), bytes]);
}
