import { deflateRawSync } from "node:zlib";

/** A program, or a library of resources. */
export function program(machine: number, content: "code" | "resources" = "code"): Buffer {
  const bytes = Buffer.alloc(2000, content === "code" ? 7 : 0);
  bytes.write("MZ");
  bytes.writeUInt32LE(128, 60);
  bytes.write("PE\0\0", 128, "latin1");
  bytes.writeUInt16LE(machine, 132);
  return bytes;
}

/** A cabinet with one program, packed with MSZIP like `name.dl_`. */
export function packedProgram(machine: number): Buffer {
  const bytes = program(machine);
  const data = Buffer.concat([Buffer.from("CK"), deflateRawSync(bytes)]);
  const head = Buffer.alloc(70);
  head.write("MSCF");
  head.writeUInt32LE(44, 16);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(1, 28);
  head.writeUInt32LE(62, 36);
  head.writeUInt16LE(1, 40);
  head.writeUInt16LE(1, 42);
  head.write("x\0", 60, "latin1");
  head.writeUInt16LE(data.length, 66);
  head.writeUInt16LE(bytes.length, 68);
  return Buffer.concat([head, data]);
}

/** A cabinet whose directory lists empty files with these names. */
export function cabinet(names: readonly string[]): Buffer {
  const head = Buffer.alloc(44);
  head.write("MSCF");
  head.writeUInt32LE(44, 16);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(names.length, 28);
  const files = names.map((name) => Buffer.concat([Buffer.alloc(16), Buffer.from(`${name}\0`, "latin1")]));
  return Buffer.concat([head, ...files]);
}
