import { ConfigMap } from '../../api/generated/core-v1.ts';
import type { ObjectMeta } from '../../api/object.ts';
import type { Infrastructure, PlatformType } from '../../api/openshift/config-v1.ts';
import { messageOf, userError } from '../../base/errors.ts';
import { nearestWord } from '../../object/nearest-word.ts';
import { isRecord } from '../../object/record.ts';
import { parseYaml } from '../../object/yaml.ts';
import { objectOf, readManifest } from '../render/decode.ts';

/** A file that somebody named, and what is in it. */
export interface GivenFile {
  readonly file: string;
  readonly text: string;
}

const problem = ({ file }: GivenFile, text: string, cause?: unknown) =>
  userError('InvalidFile', `${file}: ${text}`, { cause });

/** What an Infrastructure may hold where we look: a name that is written otherwise would be missing later (R85). */
const FIELDS: readonly { readonly at: readonly string[]; readonly known: readonly string[] }[] = [
  { at: [], known: ['apiVersion', 'kind', 'metadata', 'spec', 'status'] },
  { at: ['spec'], known: ['cloudConfig', 'platformSpec'] },
  { at: ['spec', 'cloudConfig'], known: ['name', 'key'] },
  {
    at: ['status'],
    known: [
      'apiServerInternalURI',
      'apiServerURL',
      'controlPlaneTopology',
      'cpuPartitioning',
      'etcdDiscoveryDomain',
      'infrastructureName',
      'infrastructureTopology',
      'platform',
      'platformStatus',
    ],
  },
];
const TEXTS: readonly (readonly string[])[] = [
  ['spec', 'cloudConfig', 'name'],
  ['spec', 'cloudConfig', 'key'],
  ['status', 'platformStatus', 'type'],
  ['status', 'controlPlaneTopology'],
  ['status', 'infrastructureName'],
];

/** All that OpenShift knows: what is not among them is a typo, with which a cluster would come up without a cloud. */
const PLATFORM_TYPES: Readonly<Record<Exclude<PlatformType, ''>, true>> = {
  AlibabaCloud: true,
  AWS: true,
  Azure: true,
  BareMetal: true,
  EquinixMetal: true,
  External: true,
  GCP: true,
  IBMCloud: true,
  KubeVirt: true,
  Libvirt: true,
  None: true,
  Nutanix: true,
  OpenStack: true,
  oVirt: true,
  PowerVS: true,
  VSphere: true,
};

/** Throws a userError unless it holds one that says what the cluster runs on (R11). */
export function readInfrastructure(given: GivenFile): Infrastructure {
  const object = objectIn(given, 'Infrastructure', 'config.openshift.io/v1');
  const { name = '' } = object.metadata;
  if (name !== 'cluster') throw problem(given, `is Infrastructure "${name}"; that of a cluster is called cluster`);
  for (const { at, known } of FIELDS) checkFields(given, object, at, known);
  for (const path of TEXTS) {
    const value = valueAt(object, path) ?? '';
    if (typeof value !== 'string') throw problem(given, `${path.join('.')} is no text; quote it`);
  }
  checkPlatform(given, object);
  const metadata = { ...object.metadata, name };
  return { ...object, apiVersion: 'config.openshift.io/v1', kind: 'Infrastructure', metadata };
}

function checkPlatform(given: GivenFile, object: Loose): void {
  const field = 'status.platformStatus';
  const status = valueAt(object, field.split('.'));
  if (status === undefined || status === null) {
    throw problem(given, `platform status is not populated on infrastructure: ${field} is missing`);
  }
  if (!isRecord(status)) throw problem(given, `${field} is no map`);
  const { type } = status;
  if (typeof type !== 'string' || type === '')
    throw problem(given, `no platform provider found on infrastructure: ${field}.type is missing`);
  if (Object.hasOwn(PLATFORM_TYPES, type)) return;
  const known = Object.keys(PLATFORM_TYPES);
  const near = nearestWord(type, known);
  const hint = near === undefined ? `; there are: ${known.join(', ')}` : `. Did you mean ${near}?`;
  throw problem(given, `${field}.type "${type}" is no platform of OpenShift${hint}`);
}

/** Undefined where there is none, or nothing that could have one. */
const valueAt = (object: unknown, path: readonly string[]): unknown =>
  path.reduce((value: unknown, part) => (isRecord(value) ? value[part] : undefined), object);

function checkFields(given: GivenFile, object: unknown, at: readonly string[], known: readonly string[]): void {
  const value = valueAt(object, at) ?? {};
  if (!isRecord(value)) throw problem(given, `${at.join('.')} is no map`);
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined) throw problem(given, `unknown field ${[...at, unknown].join('.')}`);
}

const CONFIG_MAPS = {
  kinds: new Map([['ConfigMap', ConfigMap]]),
  refusal: (kind: string) => `is ${/^[AEIOU]/i.test(kind) ? 'an' : 'a'} ${kind}, not a ConfigMap`,
};

/** Strictly: a field in the wrong place would be missing later. Values are never part of a message: some are passwords. */
export function readConfigMap(given: GivenFile): ConfigMap {
  const read = readManifest(given.text, given.file, CONFIG_MAPS);
  const problems = read.problems.map((one) => ({ ...one, message: withoutValues(one.message) }));
  try {
    return objectOf({ ...read, problems }) as ConfigMap;
  } catch (cause) {
    throw userError('InvalidFile', messageOf(cause), { cause });
  }
}

const NOT_YAML = 'is not valid YAML';
const QUOTE = 'quote values that begin with a sign';
/** What the parser says quotes the text, and so does what is found instead of something else. */
const withoutValues = (message: string): string =>
  /^(?:yaml|json): /.test(message) ? `${NOT_YAML}; ${QUOTE}` : message.replace(/, found .*$/s, '');

export interface SecretValues {
  readonly name: string;
  readonly values: ReadonlyMap<string, Uint8Array>;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** What the API server allows: such a key cannot leave its folder. */
const KEY = /^[-._a-zA-Z0-9]+$/;

/** `data` and `stringData`, the latter wins as in a cluster. Values are never part of a message, nor of its cause. */
export function readSecret(given: GivenFile): SecretValues {
  const object = objectIn(given, 'Secret', 'v1', (cause) => {
    // The parser quotes what it does not understand.
    const [place = ''] = / at line \d+, column \d+/.exec(messageOf(cause)) ?? [];
    return problem(given, `${NOT_YAML}${place}; ${QUOTE}`);
  });
  const { data, stringData } = object;
  const values = new Map<string, Uint8Array>();
  for (const [key, value] of entriesOf(given, 'data', data)) {
    const clean = value.replaceAll(/\s/g, '');
    if (!BASE64.test(clean)) throw problem(given, `data.${key} is no base64; plain text goes into stringData`);
    values.set(key, Buffer.from(clean, 'base64'));
  }
  for (const [key, value] of entriesOf(given, 'stringData', stringData)) values.set(key, Buffer.from(value));
  const wrong = [...values.keys()].find((key) => !KEY.test(key) || key === '.' || key === '..');
  if (wrong !== undefined) throw problem(given, `"${wrong}" cannot be the key of a Secret`);
  if (values.size === 0) throw problem(given, 'the Secret is empty');
  return { name: object.metadata.name ?? '', values };
}

function entriesOf(given: GivenFile, field: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (!isRecord(value)) throw problem(given, `${field} is no map`);
  return Object.entries(value).map(([key, one]) => {
    if (typeof one !== 'string') throw problem(given, `${field}.${key} is no text; quote it`);
    return [key, one];
  });
}

type Loose = Readonly<Record<string, unknown>> & { readonly metadata: Partial<ObjectMeta> };

function objectIn(
  given: GivenFile,
  kind: string,
  apiVersion: string,
  unreadable = (cause: unknown) => problem(given, messageOf(cause), cause),
): Loose {
  let value: unknown;
  try {
    value = parseYaml(given.text);
  } catch (cause) {
    throw unreadable(cause);
  }
  if (!isRecord(value)) throw problem(given, `holds no ${kind}`);
  if (value['kind'] !== kind || value['apiVersion'] !== apiVersion) {
    const found = [value['apiVersion'], value['kind']].filter((part) => typeof part === 'string').join(' ');
    throw problem(given, `holds ${found === '' ? 'no object' : found}; ${apiVersion} ${kind} is needed`);
  }
  const { metadata } = value;
  return { ...value, metadata: isRecord(metadata) ? metadata : {} };
}
