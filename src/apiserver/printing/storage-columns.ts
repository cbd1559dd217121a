import type { JsonObject } from '../../object/json.ts';
import {
  has,
  metadataOf,
  nameOf,
  objectAt,
  objectsAt,
  optionalAt,
  specOf,
  statusOf,
  textAt,
  textsAt,
} from '../builtin/fields.ts';
import { AGE, ageOf, boolean, integer, NAME, tableOf, text, wide } from './cells.ts';

const MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

const modesText = (modes: readonly string[]): string =>
  MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');

/** Going counts as a phase of its own. */
const phaseOf = (object: JsonObject): string =>
  has(metadataOf(object), 'deletionTimestamp') ? 'Terminating' : textAt(statusOf(object), 'phase');

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

const classOf = (object: JsonObject): string =>
  textAt(objectAt(metadataOf(object), 'annotations'), CLASS_ANNOTATION) ||
  textAt(specOf(object), 'storageClassName');

const orUnset = (spec: JsonObject, key: string): string => (has(spec, key) ? textAt(spec, key) : '<unset>');

const VOLUME_CLASS = [text('StorageClass'), text('VolumeAttributesClass')];

export const persistentVolumeColumns = tableOf(
  [
    NAME,
    text('Capacity'),
    text('Access Modes'),
    text('Reclaim Policy'),
    text('Status'),
    text('Claim'),
    ...VOLUME_CLASS,
    text('Reason'),
    AGE,
    wide('VolumeMode'),
  ],
  (volume, now) => {
    const spec = specOf(volume);
    const claim = optionalAt(spec, 'claimRef');
    return [
      nameOf(volume),
      textAt(objectAt(spec, 'capacity'), 'storage') || '0',
      modesText(textsAt(spec, 'accessModes')),
      textAt(spec, 'persistentVolumeReclaimPolicy'),
      phaseOf(volume),
      claim === undefined ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`,
      classOf(volume),
      orUnset(spec, 'volumeAttributesClassName'),
      textAt(statusOf(volume), 'reason'),
      ageOf(volume, now),
      orUnset(spec, 'volumeMode'),
    ];
  },
);

export const persistentVolumeClaimColumns = tableOf(
  [
    NAME,
    text('Status'),
    text('Volume'),
    text('Capacity'),
    text('Access Modes'),
    ...VOLUME_CLASS,
    AGE,
    wide('VolumeMode'),
  ],
  (claim, now) => {
    const [spec, status] = [specOf(claim), statusOf(claim)];
    const isBound = textAt(spec, 'volumeName') !== '';
    return [
      nameOf(claim),
      phaseOf(claim),
      textAt(spec, 'volumeName'),
      isBound ? textAt(objectAt(status, 'capacity'), 'storage') || '0' : '',
      isBound ? modesText(textsAt(status, 'accessModes')) : '',
      classOf(claim),
      orUnset(spec, 'volumeAttributesClassName'),
      ageOf(claim, now),
      orUnset(spec, 'volumeMode'),
    ];
  },
);

const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export const storageClassColumns = tableOf(
  [NAME, text('Provisioner'), text('ReclaimPolicy'), text('VolumeBindingMode'), text('AllowVolumeExpansion'), AGE],
  (object, now) => {
    const annotations = objectAt(metadataOf(object), 'annotations');
    const isDefault = DEFAULT_CLASS.some((key) => textAt(annotations, key) === 'true');
    return [
      `${nameOf(object)}${isDefault ? ' (default)' : ''}`,
      textAt(object, 'provisioner'),
      textAt(object, 'reclaimPolicy') || 'Delete',
      textAt(object, 'volumeBindingMode') || 'Immediate',
      object['allowVolumeExpansion'] === true,
      ageOf(object, now),
    ];
  },
);

export const csiDriverColumns = tableOf(
  [
    NAME,
    boolean('AttachRequired'),
    boolean('PodInfoOnMount'),
    boolean('StorageCapacity'),
    text('TokenRequests'),
    boolean('RequiresRepublish'),
    text('Modes'),
    AGE,
  ],
  (object, now) => {
    const spec = specOf(object);
    const audiences = objectsAt(spec, 'tokenRequests').map((request) => textAt(request, 'audience'));
    return [
      nameOf(object),
      spec['attachRequired'] !== false,
      spec['podInfoOnMount'] === true,
      spec['storageCapacity'] === true,
      has(spec, 'tokenRequests') ? audiences.join(',') : '<unset>',
      spec['requiresRepublish'] === true,
      textsAt(spec, 'volumeLifecycleModes').join(',') || '<none>',
      ageOf(object, now),
    ];
  },
);

export const csiNodeColumns = tableOf([NAME, integer('Drivers'), AGE], (object, now) => [
  nameOf(object),
  objectsAt(specOf(object), 'drivers').length,
  ageOf(object, now),
]);

export const volumeAttachmentColumns = tableOf(
  [NAME, { name: 'Attacher', format: 'name' }, text('PV'), text('Node'), boolean('Attached'), AGE],
  (object, now) => {
    const spec = specOf(object);
    return [
      nameOf(object),
      textAt(spec, 'attacher'),
      textAt(objectAt(spec, 'source'), 'persistentVolumeName'),
      textAt(spec, 'nodeName'),
      statusOf(object)['attached'] === true,
      ageOf(object, now),
    ];
  },
);

export const volumeAttributesClassColumns = tableOf([NAME, text('DriverName'), AGE], (object, now) => [
  nameOf(object),
  textAt(object, 'driverName'),
  ageOf(object, now),
]);
