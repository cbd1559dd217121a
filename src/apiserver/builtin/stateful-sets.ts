import { type FieldError, forbidden, invalid } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkNotNegative } from './checks.ts';
import {
  copyKey,
  ensureObject,
  has,
  objectAt,
  objectsAt,
  setDefault,
  setDefaultText,
  specOf,
  textAt,
} from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { podSpecDefaults } from './pod-defaults.ts';
import { claimSpecDefaults } from './volume-claims.ts';
import { checkTemplate, goStrategy } from './workload-validation.ts';

export const statefulSetStrategy = (): Strategy =>
  kindStrategy({
    type: 'apps.v1.StatefulSet',
    tracksGeneration: true,
    newStatus: () => ({ replicas: 0, availableReplicas: 0 }),
    setDefaults: statefulSetDefaults,
    validate: (object) => checkStatefulSet(specOf(object)),
    validateChange: (object, old) => checkStatefulSetChange(specOf(object), specOf(old)),
  });

function statefulSetDefaults(object: JsonObject): void {
  const spec = specOf(object);
  setDefaultText(spec, 'podManagementPolicy', 'OrderedReady');
  const strategy = ensureObject(spec, 'updateStrategy');
  if (textAt(strategy, 'type') === '') {
    strategy['type'] = 'RollingUpdate';
    ensureObject(strategy, 'rollingUpdate');
  }
  if (textAt(strategy, 'type') === 'RollingUpdate' && has(strategy, 'rollingUpdate')) {
    setDefault(objectAt(strategy, 'rollingUpdate'), 'partition', 0);
  }
  const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy');
  setDefaultText(retention, 'whenDeleted', 'Retain');
  setDefaultText(retention, 'whenScaled', 'Retain');
  setDefault(spec, 'replicas', 1);
  setDefault(spec, 'revisionHistoryLimit', 10);
  for (const claim of objectsAt(spec, 'volumeClaimTemplates')) {
    setDefaultText(claim, 'kind', 'PersistentVolumeClaim');
    setDefaultText(claim, 'apiVersion', 'v1');
    claimSpecDefaults(ensureObject(claim, 'spec'));
    setDefaultText(ensureObject(claim, 'status'), 'phase', 'Pending');
  }
  podSpecDefaults(objectAt(objectAt(spec, 'template'), 'spec'));
}

function checkStatefulSet(spec: JsonObject): readonly FieldError[] {
  const policy = textAt(spec, 'podManagementPolicy');
  const strategy = objectAt(spec, 'updateStrategy');
  const isKnown = ['RollingUpdate', 'OnDelete'].includes(textAt(strategy, 'type'));
  return [
    ...(['OrderedReady', 'Parallel'].includes(policy)
      ? []
      : [invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'")]),
    ...(isKnown
      ? []
      : [
          invalid(
            'spec.updateStrategy',
            undefined,
            `${goStrategy(strategy)}: must be 'RollingUpdate' or 'OnDelete'`,
          ),
        ]),
    ...['replicas', 'minReadySeconds', 'revisionHistoryLimit'].flatMap((key) =>
      checkNotNegative(spec, key, 'spec'),
    ),
    ...checkTemplate(spec, { kind: 'statefulset', needsSelector: true }),
  ];
}

const STATEFUL_CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

function checkStatefulSetChange(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const compared: JsonObject = { ...spec };
  for (const key of STATEFUL_CHANGEABLE) copyKey(compared, old, key);
  if (jsonEqual(compared, old)) return [];
  const list = STATEFUL_CHANGEABLE.map((key) => `'${key}'`);
  const why = `updates to statefulset spec for fields other than ${list.slice(0, -1).join(', ')} and ${list.at(-1)} are forbidden`;
  return [forbidden('spec', why)];
}
