/** Kubernetes puts these bytes before every protobuf body. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/**
 * A protobuf body written as data: a message is a list of `[field number, value]`, where a text or a nested message is
 * length-delimited and a number or boolean is a varint.
 */
export function protobufBody({ apiVersion, kind, raw }: { apiVersion: string; kind: string; raw: unknown }) {
  const typeMeta = [
    [1, apiVersion],
    [2, kind],
  ];
  return Buffer.concat([
    MAGIC,
    message([
      [1, typeMeta],
      [2, raw],
      [3, ''],
      [4, ''],
    ]),
  ]);
}

function message(fields: unknown): Buffer {
  if (!Array.isArray(fields)) throw new Error(`not a message: ${JSON.stringify(fields)}`);
  return Buffer.concat(fields.map(([number, value]: [number, unknown]) => field(number, value)));
}

function field(number: number, value: unknown): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number << 3), varint(value)]);
  if (typeof value === 'boolean') return Buffer.concat([varint(number << 3), varint(value ? 1 : 0)]);
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : message(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}
