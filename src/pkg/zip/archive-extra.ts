/** All extra fields of one kind. One that reaches beyond the end is left out, as .NET and Info-ZIP do. */
export function extraFields(extra: Buffer, id: number): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === id && end <= extra.length) fields.push(extra.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/**
 * Numbers of a header, those that are full taken from the ZIP64 extra field (4.5.3) in their order;
 * undefined where that field is missing, too short, or there twice.
 */
export function readLarge(extra: Buffer, values: readonly number[]): (number | undefined)[] {
  const [field, second] = extraFields(extra, 0x0001);
  let at = 0;
  return values.map((value) => {
    if (value !== 0xffffffff) return value;
    if (field === undefined || second !== undefined || at + 8 > field.length) return undefined;
    at += 8;
    return Number(field.readBigUInt64LE(at - 8));
  });
}
