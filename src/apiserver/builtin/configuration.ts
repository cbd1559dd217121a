import { type FieldError, forbidden, invalid, required, tooLong } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual, setKey } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkImmutable, checkRule } from './checks.ts';
import { ensureObject, has, metadataOf, objectAt, setDefaultText, textAt } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { configKeyProblems } from './name-rules.ts';

const LARGEST_BYTES = 1024 * 1024;
const FROZEN = 'field is immutable when `immutable` is set';

export const configMapStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.ConfigMap',
    validate: checkConfigMap,
    validateChange: (object, old) => checkFrozen(object, old, ['data', 'binaryData']),
  });

function checkConfigMap(object: JsonObject): readonly FieldError[] {
  const data = objectAt(object, 'data');
  const binary = objectAt(object, 'binaryData');
  const both = Object.keys(data).filter((key) => Object.hasOwn(binary, key));
  return [
    ...checkKeys(data, 'data'),
    ...checkKeys(binary, 'binaryData'),
    ...both.map((key) => invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...(textBytes(data) + encodedBytes(binary) > LARGEST_BYTES ? [tooLong('[]', LARGEST_BYTES)] : []),
  ];
}

const checkKeys = (data: JsonObject, path: string): readonly FieldError[] =>
  Object.keys(data).flatMap((key) => checkRule(`${path}[${key}]`, key, configKeyProblems));

const textBytes = (data: JsonObject): number =>
  Object.values(data).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0),
    0,
  );

/** Bytes behind base64 text. */
const encodedBytes = (data: JsonObject): number =>
  Object.values(data).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value, 'base64') : 0),
    0,
  );

/** An object that was made immutable stays as it is, its mark included. */
function checkFrozen(object: JsonObject, old: JsonObject, keys: readonly string[]): readonly FieldError[] {
  if (old['immutable'] !== true) return [];
  const isThawed = object['immutable'] !== true;
  return [
    ...(isThawed ? [forbidden('immutable', FROZEN)] : []),
    ...keys.filter((key) => !jsonEqual(object[key], old[key])).map((key) => forbidden(key, FROZEN)),
  ];
}

export const secretStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.Secret',
    selectableFields: { type: (secret) => textAt(secret, 'type') },
    setDefaults(secret) {
      encodeStrings(secret);
      setDefaultText(secret, 'type', 'Opaque');
    },
    validate: checkSecret,
    validateChange: (secret, old) => [
      ...checkImmutable(secret, old, 'type'),
      ...checkFrozen(secret, old, ['data']),
    ],
  });

/** stringData is for writing only: its values replace those of data. */
function encodeStrings(secret: JsonObject): void {
  const strings = Object.entries(objectAt(secret, 'stringData'));
  delete secret['stringData'];
  if (strings.length === 0) return;
  const data = ensureObject(secret, 'data');
  for (const [key, value] of strings) {
    setKey(data, key, Buffer.from(typeof value === 'string' ? value : '').toString('base64'));
  }
}

const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function checkSecret(secret: JsonObject): readonly FieldError[] {
  const data = objectAt(secret, 'data');
  return [
    ...checkKeys(data, 'data'),
    ...(encodedBytes(data) > LARGEST_BYTES ? [tooLong('data', LARGEST_BYTES)] : []),
    ...checkSecretType(secret, data),
  ];
}

function checkSecretType(secret: JsonObject, data: JsonObject): readonly FieldError[] {
  const type = textAt(secret, 'type');
  const missing = (key: string): FieldError => required(`data[${key}]`);
  if (type === 'kubernetes.io/basic-auth') {
    const isEmpty = !has(data, 'username') && !has(data, 'password');
    return isEmpty ? [missing('username'), missing('password')] : [];
  }
  if (type === 'kubernetes.io/service-account-token') {
    const key = 'kubernetes.io/service-account.name';
    const name = textAt(objectAt(metadataOf(secret), 'annotations'), key);
    return name === '' ? [required(`metadata.annotations[${key}]`)] : [];
  }
  const keys = REQUIRED_KEYS[type] ?? [];
  const absent = keys.filter((key) => !has(data, key)).map(missing);
  return absent.length > 0 || !type.startsWith('kubernetes.io/docker')
    ? absent
    : checkDockerJson(data, keys[0] ?? '');
}

function checkDockerJson(data: JsonObject, key: string): readonly FieldError[] {
  try {
    JSON.parse(Buffer.from(textAt(data, key), 'base64').toString());
    return [];
  } catch {
    return [invalid(`data[${key}]`, '<secret contents redacted>', 'unexpected end of JSON input')];
  }
}

export const serviceAccountStrategy = (): Strategy =>
  kindStrategy({ type: 'core.v1.ServiceAccount', returnsDeletedObject: true });
