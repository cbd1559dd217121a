import { type FieldError, forbidden, invalid, required } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../object/names.ts';
import { checkEach, checkName, checkUnique } from './checks.ts';
import { has, objectAt, objectsAt, textAt } from './fields.ts';

/** What a source cannot do without. Sources that are not listed have nothing we check. */
const ESSENTIALS: Readonly<Record<string, readonly string[]>> = {
  secret: ['secretName'],
  configMap: ['name'],
  persistentVolumeClaim: ['claimName'],
  hostPath: ['path'],
  csi: ['driver'],
  nfs: ['server', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  flexVolume: ['driver'],
};

/** The keys of a volume that are not a source of it. */
const OTHER_KEYS = new Set(['name']);

/** All volumes of a pod; their names must differ. */
export function checkVolumes(spec: JsonObject, path: string): readonly FieldError[] {
  const volumes = objectsAt(spec, 'volumes');
  const names = volumes.map((volume) => textAt(volume, 'name'));
  return [
    ...checkUnique(names, (index) => `${path}.volumes[${index}].name`),
    ...checkEach(volumes, `${path}.volumes`, (volume, volumePath) => [
      ...checkName(`${volumePath}.name`, textAt(volume, 'name'), dnsLabelProblems),
      ...checkSources(volume, volumePath, OTHER_KEYS),
    ]),
  ];
}

/** Exactly one source, with what it needs. `others` are the keys of the holder that are no sources. */
export function checkSources(
  holder: JsonObject,
  path: string,
  others: ReadonlySet<string>,
  isPersistent = false,
): readonly FieldError[] {
  const given = orderedSources(holder, others);
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((name, index) =>
    index > 0
      ? [forbidden(`${path}.${name}`, 'may not specify more than 1 volume type')]
      : checkSource(objectAt(holder, name), `${path}.${name}`, isPersistent ? `${name}@pv` : name),
  );
}

/** Upstream looks at the sources in the order of its struct; the first one found is the right one. */
const FIRST = ['emptyDir', 'hostPath'];

function orderedSources(holder: JsonObject, others: ReadonlySet<string>): readonly string[] {
  const given = Object.keys(holder).filter((key) => !others.has(key) && has(holder, key));
  return [...FIRST.filter((name) => given.includes(name)), ...given.filter((name) => !FIRST.includes(name))];
}

function checkSource(source: JsonObject, path: string, name: string): readonly FieldError[] {
  const essentials = name === 'csi@pv' ? ['driver', 'volumeHandle'] : (ESSENTIALS[name.replace('@pv', '')] ?? []);
  const missing = essentials.filter((key) => textAt(source, key) === '').map((key) => required(`${path}.${key}`));
  const driver = name.startsWith('csi') ? textAt(source, 'driver') : '';
  const unnamed = (driver === '' ? [] : dnsSubdomainProblems(driver)).map((problem) =>
    invalid(`${path}.driver`, driver, problem),
  );
  const place = textAt(source, 'path');
  const isRelative = name.startsWith('nfs') && place !== '' && !place.startsWith('/');
  return [
    ...missing,
    ...unnamed,
    ...(isRelative ? [invalid(`${path}.path`, place, 'must be an absolute path')] : []),
  ];
}
