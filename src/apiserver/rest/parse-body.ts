import type { Json } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import { yamlStrictError } from '../../object/yaml-json.ts';
import { decodeProtobufBody } from '../protobuf/decode-body.ts';

import { readYaml } from './yaml.ts';

export interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A body as it was written, before anything is known about its kind. */
export interface ParsedBody {
  readonly value: Json;
  /** Keys that appear twice, one text each for Warning headers. */
  readonly warnings: readonly string[];
  /** The same as strict decoding says it. */
  readonly strict: readonly string[];
}

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** The media type of a request body; JSON when there is none. */
export function bodyType(headers: Readonly<Record<string, string | undefined>>): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  const trimmed = type.trim().toLowerCase();
  return trimmed === '' ? 'application/json' : trimmed;
}

/** Reads a body; undefined for a media type nobody reads. Throws JsonProblem or ProtobufProblem. */
export async function parseBody(
  mediaType: string,
  bytes: Uint8Array,
  expected: ExpectedKind,
): Promise<ParsedBody | undefined> {
  switch (mediaType) {
    case 'application/json': {
      const { value, duplicates } = parseJsonBytes(bytes);
      const texts = duplicates.map((path) => `duplicate field "${path}"`);
      return { value, warnings: texts, strict: texts };
    }
    case 'application/yaml': {
      const { value, duplicates } = await readYaml(bytes);
      return { value, warnings: duplicates, strict: duplicates.length === 0 ? [] : [yamlStrictError(duplicates)] };
    }
    case PROTOBUF:
      return { value: decodeProtobufBody(bytes, expected).object, warnings: [], strict: [] };
    default:
      return undefined;
  }
}
