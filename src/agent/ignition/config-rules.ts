import { posix } from 'node:path';
import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';

/**
 * What Ignition demands of single values and objects (coreos/ignition, config/v3_1/types). Each rule gives the end of a
 * sentence about what is wrong, or nothing. Values are never quoted: configs hold secrets.
 */
export type Rule<T> = (found: T) => string | undefined;
export type Fields = JsonObject;

export const isAbsent = (fields: Fields, key: string): boolean => (getKey(fields, key) ?? null) === null;

/** The text of a field; empty when there is none, which is a key as well. */
export function textOf(item: Json, key: string): string {
  const found = isJsonObject(item) ? getKey(item, key) : undefined;
  return typeof found === 'string' ? found : '';
}

const isTrue = (fields: Fields, key: string): boolean => getKey(fields, key) === true;
const unless = (isGood: boolean, problem: string): string | undefined => (isGood ? undefined : problem);
const text = (found: Json): string => (typeof found === 'string' ? found : '');
const nested = (fields: Fields, key: string): Fields => {
  const found = getKey(fields, key);
  return isJsonObject(found) ? found : {};
};

export const path: Rule<Json> = (found) =>
  unless(
    text(found).startsWith('/') && cleaned(text(found)) === found,
    'must be an absolute path without "//", "." or ".." in it and without a slash at its end',
  );
const cleaned = (found: string): string => posix.normalize(found).replace(/(?<=.)\/$/, '');

export const pathOrNothing: Rule<Json> = (found) => (found === '' ? undefined : path(found));

export const notEmpty: Rule<Json> = (found) => unless(found !== '', 'must not be empty');

export const compression: Rule<Json> = (found) => unless(found === '' || found === 'gzip', 'must be "gzip"');

const HASH = /^(?:sha512-.{128}|sha256-.{64})$/s;
export const hash: Rule<Json> = (found) =>
  unless(HASH.test(text(found)), 'must be sha512- or sha256- and the digest in hexadecimal');

const SOURCE = /^(?:https?|tftp|s3|data):/i;
export const source: Rule<Json> = (found) =>
  unless(found === '' || SOURCE.test(text(found)), 'must be a URL of http, https, tftp, s3 or data');

const PROXY = /^https?:/i;
export const proxy: Rule<Json> = (found) => unless(PROXY.test(text(found)), 'must be a URL of http or https');

const GUID = /^(?:|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})$/i;
export const guid: Rule<Json> = (found) => unless(GUID.test(text(found)), 'must be a GUID');

const LONGEST_PARTITION_LABEL = 36;
export const partitionLabel: Rule<Json> = (found) =>
  unless(
    Buffer.byteLength(text(found)) <= LONGEST_PARTITION_LABEL && !text(found).includes(':'),
    `must have at most ${LONGEST_PARTITION_LABEL} characters and no colon`,
  );

const UNIT_NAME = /\.(?:service|socket|device|mount|automount|swap|target|path|timer|snapshot|slice|scope)$/;
export const unitName: Rule<Json> = (found) =>
  unless(UNIT_NAME.test(text(found)), 'must end as units do, such as in .service');

export const dropinName: Rule<Json> = (found) => unless(text(found).endsWith('.conf'), 'must end in .conf');

export const owner: Rule<Fields> = (fields) =>
  unless(isAbsent(fields, 'id') || textOf(fields, 'name') === '', 'must have an id or a name, not both');

export const resource: Rule<Fields> = (fields) => {
  if (!isAbsent(nested(fields, 'verification'), 'hash') && isAbsent(fields, 'source')) {
    return 'has a hash, and no source that it could be of';
  }
  const headers = getKey(fields, 'httpHeaders');
  const hasHeaders = Array.isArray(headers) && headers.length > 0;
  return unless(
    !hasHeaders || PROXY.test(textOf(fields, 'source')),
    'has HTTP headers, and no source of http or https',
  );
};

export const resourceWithSource: Rule<Fields> = (fields) =>
  textOf(fields, 'source') === '' ? 'must have a source' : resource(fields);

export const file: Rule<Fields> = (fields) =>
  unless(
    !isTrue(fields, 'overwrite') || !isAbsent(nested(fields, 'contents'), 'source'),
    'has overwrite, and no contents.source to write',
  );

const FORMATS = ['ext4', 'btrfs', 'xfs', 'swap', 'vfat'];
export const filesystem: Rule<Fields> = (fields) => {
  const format = textOf(fields, 'format');
  if (format !== '') return unless(FORMATS.includes(format), `must have a format of ${FORMATS.join(', ')}`);
  const hasTexts = ['path', 'label', 'uuid'].some((key) => textOf(fields, key) !== '');
  const hasLists = ['mountOptions', 'options'].some((key) => (listOf(fields, key)?.length ?? 0) > 0);
  return unless(!hasTexts && !hasLists && !isTrue(fields, 'wipeFilesystem'), 'must have a format');
};

const STRIPES = ['linear', 'raid0', '0', 'stripe'];
const LEVELS = ['raid1', '1', 'mirror', 'raid4', '4', 'raid5', '5', 'raid6', '6', 'raid10', '10'];
export const raid: Rule<Fields> = (fields) => {
  const level = textOf(fields, 'level');
  if (![...STRIPES, ...LEVELS].includes(level)) return 'must have a level such as raid1';
  if (STRIPES.includes(level) && (getKey(fields, 'spares') ?? 0) !== 0) return 'cannot have spares at its level';
  return unless((listOf(fields, 'devices')?.length ?? 0) > 0, 'must have devices');
};

const WHAT_EXISTS = ['startMiB', 'sizeMiB', 'label'];
export const partition: Rule<Fields> = (fields) => {
  if ((getKey(fields, 'number') ?? 0) === 0 && isAbsent(fields, 'label')) return 'must have a number or a label';
  const describes =
    WHAT_EXISTS.some((key) => !isAbsent(fields, key)) ||
    ['guid', 'typeGuid'].some((key) => textOf(fields, key) !== '');
  return unless(getKey(fields, 'shouldExist') !== false || !describes, 'shall not exist, and is described');
};

/** A number that is not 0 says which partition is meant, else the label does. */
export function partitionKey(item: Json): string {
  const fields = isJsonObject(item) ? item : {};
  const number = getKey(fields, 'number') ?? 0;
  if (number !== 0) return `number:${stringifyJson(number)}`;
  return isAbsent(fields, 'label') ? '' : `label:${textOf(fields, 'label')}`;
}

function listOf(fields: Fields, key: string): readonly Json[] | undefined {
  const found = getKey(fields, key);
  return Array.isArray(found) ? found : undefined;
}
