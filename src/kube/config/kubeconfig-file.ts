import { dirname, resolve } from 'node:path';
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { YamlReader } from '../../object/yaml-reader.ts';
import type { ProblemList } from './problem-list.ts';

/** Keys and list places from the top of a file. */
export type FieldPath = readonly (string | number)[];

/** One kubeconfig as it was read, able to say where a field stands. */
export interface KubeconfigFile {
  /** For messages. */
  readonly path: string;
  readonly content: JsonObject;
  /** Of a field, or of the nearest thing around it that is there; undefined when it did not come from text. */
  lineOf(path: FieldPath): number | undefined;
  /** A path in it is relative to its folder. */
  resolvePath(path: string): string;
}

/** Reads the text of a kubeconfig as kubectl would (YAML 1.1 scalars); undefined and problems when it is broken. */
export function parseKubeconfig(path: string, text: string, problems: ProblemList): KubeconfigFile | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.1',
    schema: 'failsafe',
    uniqueKeys: false,
    logLevel: 'error',
    lineCounter: lines,
  });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = lines.linePos(error.pos[0]).line;
    const isSecond = error.code === 'MULTIPLE_DOCS';
    const why = isSecond
      ? 'a second YAML document begins; keep one'
      : `not valid YAML: ${shortMessage(error.message)}`;
    problems.add(`${path}:${line}: ${why}`);
    return undefined;
  }
  const content = contentOf(new YamlReader(text, lines), document.contents, path, problems);
  if (content === undefined) return undefined;
  return {
    path,
    content,
    lineOf: (field) => lineAt(document, field, lines),
    resolvePath: (relative) => resolve(dirname(path), relative),
  };
}

const shortMessage = (message: string): string =>
  message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '';

function contentOf(
  reader: YamlReader,
  root: unknown,
  path: string,
  problems: ProblemList,
): JsonObject | undefined {
  let content: Json;
  try {
    content = reader.value(root, 0) ?? {};
  } catch (error) {
    problems.add(`${path}: not valid YAML: ${messageOf(error)}`);
    return undefined;
  }
  for (const duplicate of reader.duplicates) {
    problems.add(`${path}: ${duplicate.replace(/already set in map$/, 'stands there twice')}; keep one of them`);
  }
  if (isJsonObject(content)) return content;
  problems.add(
    `${path}:1: found ${Array.isArray(content) ? 'a list' : 'plain text'}, but a kubeconfig is a map with "clusters:", "users:" and "contexts:"`,
  );
  return undefined;
}

/** Follows the path as far as it goes. What comes by `<<` is at the line of the map that takes it in. */
function lineAt(document: Document, path: FieldPath, lines: LineCounter): number | undefined {
  let place: unknown = document.contents;
  let offset = isNode(place) ? place.range?.[0] : undefined;
  for (const step of path) {
    const next = stepInto(isAlias(place) ? place.resolve(document) : place, step);
    if (next === undefined) break;
    offset = isNode(next.start) ? next.start.range?.[0] : offset;
    place = next.value;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

function stepInto(node: unknown, step: string | number): { start: unknown; value: unknown } | undefined {
  if (isSeq(node) && typeof step === 'number') {
    const item = node.items[step];
    return item === undefined ? undefined : { start: item, value: item };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.findLast(({ key }) => isScalar(key) && key.value === step);
  return pair === undefined ? undefined : { start: pair.key, value: pair.value };
}
