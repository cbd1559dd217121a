import { type FieldError, forbidden, invalid, notSupported, required } from '../../object/field-error.ts';
import { cloneJson, type Json, type JsonObject, jsonEqual } from '../../object/json.ts';
import type { Strategy, WriteContext } from '../registry/resource.ts';
import { checkChoice } from './checks.ts';
import {
  copyKey,
  ensureObject,
  has,
  objectAt,
  setDefault,
  setDefaultText,
  specOf,
  statusOf,
  textAt,
  textsAt,
  timestampOf,
} from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { driverDefaults } from './pod-defaults.ts';
import { isAbove, isPositive } from './quantities.ts';
import { claimSpecDefaults, protect } from './volume-claims.ts';
import { checkSources } from './volume-validation.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

/** Fields of a persistent volume that say nothing about where its data is. */
const COMMON_FIELDS = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

export const persistentVolumeStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.PersistentVolume',
    returnsDeletedObject: true,
    newStatus: () => ({ phase: 'Pending' }),
    setDefaults(volume) {
      const spec = specOf(volume);
      setDefaultText(ensureObject(volume, 'status'), 'phase', 'Pending');
      setDefaultText(spec, 'persistentVolumeReclaimPolicy', 'Retain');
      setDefault(spec, 'volumeMode', 'Filesystem');
      driverDefaults(spec);
    },
    onCreate(volume, { now }) {
      statusOf(volume)['lastPhaseTransitionTime'] = timestampOf(now);
      protect(volume, 'kubernetes.io/pv-protection');
    },
    onSubresource: stampPhase,
    validate: (volume) => checkVolume(specOf(volume)),
    validateChange: (volume, old) => checkVolumeChange(specOf(volume), specOf(old)),
  });

function stampPhase(volume: JsonObject, old: JsonObject, { now }: WriteContext): void {
  const [status, before] = [statusOf(volume), statusOf(old)];
  if (textAt(status, 'phase') !== textAt(before, 'phase')) status['lastPhaseTransitionTime'] = timestampOf(now);
  else if (!has(status, 'lastPhaseTransitionTime')) copyKey(status, before, 'lastPhaseTransitionTime');
}

const checkModes = (spec: JsonObject): readonly FieldError[] =>
  textsAt(spec, 'accessModes').flatMap((mode) =>
    ACCESS_MODES.includes(mode) ? [] : [notSupported('spec.accessModes', mode, ACCESS_MODES)],
  );

function checkVolume(spec: JsonObject): readonly FieldError[] {
  const isSized = has(objectAt(spec, 'capacity'), 'storage');
  return [
    ...(textsAt(spec, 'accessModes').length === 0 ? [required('spec.accessModes')] : []),
    ...checkModes(spec),
    ...(has(spec, 'capacity') ? [] : [required('spec.capacity')]),
    ...(isSized ? [] : [notSupported('spec.capacity', spec['capacity'] ?? null, ['storage'])]),
    ...checkChoice(spec, 'persistentVolumeReclaimPolicy', 'spec', ['Delete', 'Recycle', 'Retain']),
    ...checkChoice(spec, 'volumeMode', 'spec', VOLUME_MODES),
    ...checkSources(spec, 'spec', COMMON_FIELDS, true),
  ];
}

const sourceOf = (spec: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(spec).filter(([key]) => !COMMON_FIELDS.has(key)));

function checkVolumeChange(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const path = 'spec.persistentvolumesource';
  return [
    ...(jsonEqual(sourceOf(spec), sourceOf(old)) ? [] : [forbidden(path, `${path} is immutable after creation`)]),
    ...(jsonEqual(spec['volumeMode'], old['volumeMode'])
      ? []
      : [invalid('spec.volumeMode', spec['volumeMode'] ?? null, 'field is immutable')]),
  ];
}

export const persistentVolumeClaimStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.PersistentVolumeClaim',
    returnsDeletedObject: true,
    newStatus: () => ({ phase: 'Pending' }),
    setDefaults(claim) {
      setDefaultText(ensureObject(claim, 'status'), 'phase', 'Pending');
      claimSpecDefaults(specOf(claim));
    },
    onCreate(claim) {
      alignSources(specOf(claim));
      protect(claim, 'kubernetes.io/pvc-protection');
    },
    onUpdate: (claim) => alignSources(specOf(claim)),
    validate: (claim) => checkClaim(specOf(claim)),
    validateChange: checkClaimChange,
  });

/** The old and the new field for a source say the same, as far as the old one can. */
function alignSources(spec: JsonObject): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) spec['dataSourceRef'] = cloneJson(dataSource);
  else if (dataSource === undefined && has(spec, 'dataSourceRef')) {
    const reference = objectAt(spec, 'dataSourceRef');
    const isOldKind = ['PersistentVolumeClaim', 'VolumeSnapshot'].includes(textAt(reference, 'kind'));
    if (!has(reference, 'namespace') && isOldKind) spec['dataSource'] = cloneJson(reference);
  }
}

function checkClaim(spec: JsonObject): readonly FieldError[] {
  const storage = objectAt(objectAt(spec, 'resources'), 'requests')['storage'];
  const path = 'spec.resources[storage]';
  const isEmpty = storage !== undefined && !isPositive(storage);
  return [
    ...(textsAt(spec, 'accessModes').length === 0
      ? [required('spec.accessModes', 'at least 1 access mode is required')]
      : []),
    ...checkModes(spec),
    ...(storage === undefined ? [required(path)] : []),
    ...(isEmpty ? [invalid(path, storage, 'must be greater than zero')] : []),
    ...checkChoice(spec, 'volumeMode', 'spec', VOLUME_MODES),
  ];
}

const CLAIM_FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

function checkClaimChange(claim: JsonObject, old: JsonObject): readonly FieldError[] {
  const [spec, before] = [specOf(claim), specOf(old)];
  const compared: JsonObject = { ...spec };
  const isBound = textAt(statusOf(old), 'phase') === 'Bound';
  if (isBound) {
    copyKey(compared, before, 'resources');
    copyKey(compared, before, 'volumeAttributesClassName');
  }
  // The binder fills these in.
  for (const key of ['volumeName', 'storageClassName']) if (!has(before, key)) delete compared[key];
  if (!jsonEqual(compared, before)) return [forbidden('spec', CLAIM_FIXED)];
  const [now, then] = [requestedStorage(spec), requestedStorage(before)];
  const capacity = objectAt(statusOf(old), 'capacity')['storage'];
  return isAbove(then, now) && isAbove(capacity, now)
    ? [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
    : [];
}

const requestedStorage = (spec: JsonObject): Json | undefined =>
  objectAt(objectAt(spec, 'resources'), 'requests')['storage'];
