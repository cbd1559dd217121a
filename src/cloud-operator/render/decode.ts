import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { messageOf, terminalError } from '../../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { yamlBodySteps } from '../../object/yaml-body.ts';
import { type ManifestKind, type ManifestScope, shapeNameOf } from './manifest-kinds.ts';
import { keyInAnyCase, type ManifestNote, type ManifestProblem, ShapeReader } from './shape-reader.ts';

/** What a file holds: an object unless there are problems. */
export interface ReadManifest {
  readonly file: string;
  readonly object?: KubeObject;
  readonly problems: readonly ManifestProblem[];
  readonly notes: readonly ManifestNote[];
}

/** Reads YAML strictly, and sloppy parts of it as upstream's typed decoder does (R23, R24). Never throws for what a text may hold. */
export function readManifest(text: string, file: string, scope: ManifestScope): ReadManifest {
  const reader = new ShapeReader();
  const value = readYaml(text, reader);
  return result(file, reader, value === undefined ? undefined : shaped(value, scope, reader));
}

/** The same for an object that is there already, such as one in code. */
export function readObject(value: unknown, file: string, scope: ManifestScope): ReadManifest {
  const reader = new ShapeReader();
  const plain: Json = JSON.parse(JSON.stringify(value) ?? 'null');
  return result(file, reader, shaped(plain, scope, reader));
}

/** The object, or an error with all problems: only an edit helps. */
export function objectOf({ file, object, problems }: ReadManifest): KubeObject {
  if (object !== undefined) return object;
  const texts = problems.map(({ path, message }) =>
    [file, path, message].filter((part) => part !== '').join(': '),
  );
  throw terminalError('InvalidAsset', texts.join('; '));
}

const result = (file: string, { problems, notes }: ShapeReader, object: KubeObject | undefined): ReadManifest =>
  problems.length > 0 || object === undefined ? { file, problems, notes } : { file, object, problems, notes };

function readYaml(text: string, reader: ShapeReader): Json | undefined {
  if (documentsOf(text) > 1) return reader.problem('syntax', '', 'holds more than one YAML document');
  try {
    const steps = yamlBodySteps(text);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const { value, duplicates } = step.value;
    for (const duplicate of duplicates) reader.problem('duplicate-key', '', duplicate);
    return value;
  } catch (cause) {
    return reader.problem('syntax', '', messageOf(cause));
  }
}

/** How many documents hold anything; a line of dashes cannot stand inside one. */
const documentsOf = (text: string): number =>
  text.split(/^(?:---|\.\.\.)(?=\s|$)/m).filter((part) => /^(?!#)\S/m.test(part.replaceAll(/^\s+/gm, ''))).length;

function shaped(value: Json, scope: ManifestScope, reader: ShapeReader): KubeObject | undefined {
  if (!isJsonObject(value)) return reader.problem('wrong-type', '', 'does not hold an object');
  const name = keyInAnyCase(value, 'kind');
  if (typeof name !== 'string') return reader.problem('unsupported-kind', '', 'has no kind');
  const kind = scope.kinds.get(name);
  if (kind === undefined) return reader.problem('unsupported-kind', '', scope.refusal(name));
  const read = reader.value(value, shapeNameOf(kind), '');
  return isJsonObject(read) ? identified(read, kind, reader) : undefined;
}

/** With the apiVersion that is sent, whatever the file says. */
function identified(read: JsonObject, kind: ManifestKind, reader: ShapeReader): KubeObject | undefined {
  const apiVersion = apiVersionOf(kind);
  const found = read['apiVersion'];
  if (found !== apiVersion) {
    const shown = typeof found === 'string' ? `${found} is out of use` : 'there is none';
    reader.note('apiVersion', 'apiVersion', `${shown}; ${kind.kind} is sent as ${apiVersion}`);
  }
  const { metadata, ...rest } = read;
  if (!isJsonObject(metadata) || typeof metadata['name'] !== 'string' || metadata['name'] === '') {
    return reader.problem('wrong-type', 'metadata.name', 'there is none');
  }
  return { ...rest, apiVersion, kind: kind.kind, metadata: { ...metadata, name: metadata['name'] } };
}
