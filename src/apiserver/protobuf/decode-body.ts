import type { JsonObject } from '../../object/json.ts';
import { builtinPackage } from '../builtin-data/builtin-resources.ts';
import { MessageDecoder } from './message-decoder.ts';
import { findMessage, type Message } from './message-table.ts';
import { LENGTH, ProtobufProblem, WireReader } from './wire.ts';

export interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface ProtobufBody {
  readonly apiVersion: string;
  readonly kind: string;
  /** The same as if the client had sent JSON, kind and apiVersion included. */
  readonly object: JsonObject;
}

export { ProtobufProblem };

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** Decodes a body of type application/vnd.kubernetes.protobuf. Throws nothing but `ProtobufProblem`. */
export function decodeProtobufBody(bytes: Uint8Array, expected: ExpectedKind | undefined): ProtobufBody {
  const unknown = readEnvelope(bytes);
  const apiVersion = unknown.apiVersion || expectedVersion(expected);
  const kind = unknown.kind || (expected?.kind ?? '');
  const message = messageOfKind(apiVersion, kind);
  if (message === undefined) {
    throw new ProtobufProblem(`no kind "${kind}" is registered for version "${apiVersion}"`, 'unknown-kind');
  }
  const object: JsonObject = { kind, apiVersion };
  new MessageDecoder(unknown.raw).decode(message, object);
  return { apiVersion, kind, object };
}

const expectedVersion = (expected: ExpectedKind | undefined): string => {
  if (expected === undefined) return '';
  return expected.group === '' ? expected.version : `${expected.group}/${expected.version}`;
};

/** Options are of every group: clients send them in the version of what they act on. */
function messageOfKind(apiVersion: string, kind: string): Message | undefined {
  // The part of a type's name before its last dot names a file.
  if (kind === '' || kind.includes('.')) return undefined;
  const slash = apiVersion.indexOf('/');
  const [group, version] = [apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1)];
  const name = builtinPackage(group, version);
  const own = name === undefined ? undefined : findMessage(`${name}.${kind}`);
  const isOptions = kind.endsWith('Options') || kind === 'Status';
  return own ?? (isOptions ? findMessage(`meta.v1.${kind}`) : undefined);
}

interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Uint8Array;
}

/** Magic bytes, then {1: {1: apiVersion, 2: kind}, 2: raw}; encoding and type of the content are not looked at, as upstream. */
function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new ProtobufProblem('empty data');
  if (bytes.length < MAGIC.length || MAGIC.compare(bytes, 0, MAGIC.length) !== 0) {
    throw new ProtobufProblem(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  const reader = new WireReader(bytes.subarray(MAGIC.length));
  const end = reader.bytes.length;
  const envelope: Envelope = { apiVersion: '', kind: '', raw: new Uint8Array() };
  while (reader.position < end) {
    const tag = reader.unsigned(end);
    if (tag === 8 + LENGTH) readTypeMeta(reader, reader.lengthEnd(end), envelope);
    else if (tag === 16 + LENGTH) envelope.raw = rawBytes(reader, end);
    else reader.skip(tag & 7, end);
  }
  return envelope;
}

function readTypeMeta(reader: WireReader, end: number, envelope: Envelope): void {
  while (reader.position < end) {
    const tag = reader.unsigned(end);
    if (tag === 8 + LENGTH) envelope.apiVersion = reader.string(end);
    else if (tag === 16 + LENGTH) envelope.kind = reader.string(end);
    else reader.skip(tag & 7, end);
  }
}

function rawBytes(reader: WireReader, end: number): Uint8Array {
  const stop = reader.lengthEnd(end);
  const raw = reader.bytes.subarray(reader.position, stop);
  reader.position = stop;
  return raw;
}
