import { X509Certificate } from "node:crypto";
import { UserError } from "../errors.ts";

/** The maximum size of a signature block. With a time stamp and its certificates, a block has about 12 KB. */
export const signatureLimitBytes = 64 * 1024;

/** How many of some scripts are signed. */
export interface SignedCount {
  readonly signed: number;
  readonly total: number;
  /** The subject of one of the certificates. Empty if none is signed. */
  readonly signer: string;
  /** The names of scripts whose signatures are missing or damaged on the server. Only in the count of all scripts. */
  readonly damaged?: readonly string[];
}

/**
 * The signature block of a signed script: what `Set-AuthenticodeSignature` appends to a `.ps1` file. It is a CMS SignedData in
 * base64 between two lines (see about_Signing in PowerShell's help).
 * @param script the script without the block
 * @throws UserError "conflict" if the text before the block is not this script, "invalid" if there is no valid block
 */
export function signatureIn(signed: Buffer, script: Buffer): Buffer {
  if (!signed.subarray(0, script.length).equals(script)) {
    const message =
      "The text before the signature differs from the script. Download the script again, and sign it.";
    throw new UserError("conflict", message);
  }
  const block = signed.subarray(script.length);
  if (block.length === 0) throw invalid("The file has no signature.");
  if (block.length > signatureLimitBytes) throw invalid("The signature is larger than 64 KB.");
  signerOf(block);
  return block;
}

const begin = "\r\n# SIG # Begin signature block\r\n";
const end = "# SIG # End signature block\r\n";

/** The signature block at the end of a script; undefined if there is none. */
export function blockIn(script: Buffer): Buffer | undefined {
  const at = script.lastIndexOf(begin);
  return at < 0 ? undefined : script.subarray(at);
}

/** The subject of the certificate that signed, such as `CN=Contoso IT`. @throws UserError "invalid" */
export function signerOf(block: Buffer): string {
  const text = block.toString("latin1");
  const lines = text.startsWith(begin) && text.endsWith(end) ? text.slice(begin.length, -end.length) : "";
  if (!/^(?:# [A-Za-z0-9+/]{64}\r\n)*# [A-Za-z0-9+/]{1,64}={0,2}\r\n$/.test(lines))
    throw invalid("The file has no signature block at its end.");
  const base64 = lines.replaceAll(/# |\r\n/g, "");
  const cms = Buffer.from(base64, "base64");
  if (cms.toString("base64") !== base64) throw invalid("The signature block is damaged.");
  try {
    return signerIn(cms);
  } catch (error) {
    throw error instanceof UserError ? error : invalid("The signature block contains no valid signature.");
  }
}

function invalid(message: string): UserError {
  return new UserError("invalid", message);
}

/** One element of DER (ITU-T X.690), in definite form. */
interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** With tag and length. */
  readonly bytes: Buffer;
}

/** The extended key usage of a certificate for signing code (RFC 5280). */
const codeSigning = "1.3.6.1.5.5.7.3.3";
const signedData = Buffer.from("2a864886f70d010702", "hex");

/** @param cms a CMS SignedData (RFC 5652) in DER @throws any error if it is none */
function signerIn(cms: Buffer): string {
  const whole = elementAt(cms, 0);
  if (whole.bytes.length !== cms.length) throw new Error("there is more behind it");
  const [type, wrapped] = childrenOf(whole);
  if (type === undefined || wrapped === undefined || !type.content.equals(signedData))
    throw new Error("no SignedData");
  const parts = childrenOf(elementAt(wrapped.content, 0));
  const certificates = childrenOf(parts.find(({ tag }) => tag === 0xa0)).map(
    ({ bytes }) => new X509Certificate(bytes),
  );
  const [signer] = childrenOf(parts.at(-1));
  const serial = childrenOf(childrenOf(signer)[1])[1]
    ?.content.toString("hex")
    .replace(/^(?:00)+/, "")
    .toUpperCase();
  const found = certificates.find(({ serialNumber }) => serialNumber.replace(/^(?:00)+/, "") === serial);
  if (found === undefined) throw new Error("no certificate of the signer");
  if (!found.keyUsage?.includes(codeSigning)) throw invalid("The certificate is not for signing code.");
  return (
    found.subject.split("\n").find((line) => line.startsWith("CN=")) ?? found.subject.split("\n").join(", ")
  );
}

function childrenOf(parent: Element | undefined): Element[] {
  const children: Element[] = [];
  const content = parent?.content ?? Buffer.alloc(0);
  for (let at = 0; at < content.length; ) {
    const child = elementAt(content, at);
    children.push(child);
    at += child.bytes.length;
  }
  return children;
}

function elementAt(bytes: Buffer, at: number): Element {
  const tag = bytes.readUInt8(at);
  let start = at + 2;
  let length = bytes.readUInt8(at + 1);
  if (length > 127) {
    const count = length - 128;
    if (count < 1 || count > 3) throw new Error("no DER");
    length = bytes.readUIntBE(start, count);
    start += count;
  }
  if (start + length > bytes.length) throw new Error("DER is cut off");
  return { tag, content: bytes.subarray(start, start + length), bytes: bytes.subarray(at, start + length) };
}
