import { type FieldError, invalid, notSupported, required } from '../../object/field-error.ts';
import { type JsonObject, jsonEqual } from '../../object/json.ts';
import { dnsSubdomainProblems } from '../../object/names.ts';
import type { Strategy } from '../registry/resource.ts';
import { checkChoice, checkEach, checkImmutable, checkRule, checkUnique, IMMUTABLE } from './checks.ts';
import { has, objectAt, objectsAt, setDefault, specOf, textAt, textsAt } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';
import { protect } from './volume-claims.ts';

export const storageClassStrategy = (): Strategy =>
  kindStrategy({
    type: 'storage.v1.StorageClass',
    returnsDeletedObject: true,
    setDefaults(object) {
      setDefault(object, 'reclaimPolicy', 'Delete');
      setDefault(object, 'volumeBindingMode', 'Immediate');
    },
    validate: (object) => [
      ...(textAt(object, 'provisioner') === '' ? [required('provisioner')] : []),
      ...checkChoice(object, 'reclaimPolicy', '', ['Delete', 'Retain']),
      ...checkChoice(object, 'volumeBindingMode', '', ['Immediate', 'WaitForFirstConsumer']),
    ],
    validateChange: (object, old) =>
      ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((key) =>
        checkImmutable(object, old, key),
      ),
  });

export const csiDriverStrategy = (): Strategy =>
  kindStrategy({
    type: 'storage.v1.CSIDriver',
    allowsUnconditionalUpdate: false,
    returnsDeletedObject: true,
    setDefaults(object) {
      const spec = specOf(object);
      setDefault(spec, 'attachRequired', true);
      setDefault(spec, 'podInfoOnMount', false);
      setDefault(spec, 'storageCapacity', false);
      setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
      setDefault(spec, 'volumeLifecycleModes', ['Persistent']);
      setDefault(spec, 'requiresRepublish', false);
      setDefault(spec, 'seLinuxMount', false);
    },
    validate: (object) => checkDriver(specOf(object)),
    validateChange: (object, old) => checkDriverChange(specOf(object), specOf(old)),
  });

const MODES = ['Persistent', 'Ephemeral'];

function checkDriver(spec: JsonObject): readonly FieldError[] {
  const audiences = objectsAt(spec, 'tokenRequests').map((request) => textAt(request, 'audience'));
  return [
    ...checkChoice(spec, 'fsGroupPolicy', 'spec', ['File', 'None', 'ReadWriteOnceWithFSType']),
    ...checkUnique(audiences, (index) => `spec.tokenRequests[${index}].audience`),
    ...textsAt(spec, 'volumeLifecycleModes').flatMap((mode) =>
      MODES.includes(mode) ? [] : [notSupported('spec.volumeLifecycleModes', mode, MODES)],
    ),
  ];
}

/** Upstream's message spells the first field differently from the field itself. */
function checkDriverChange(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const isAttached = jsonEqual(spec['attachRequired'], old['attachRequired']);
  return [
    ...(isAttached ? [] : [invalid('spec.attachedRequired', spec['attachRequired'] ?? null, IMMUTABLE)]),
    ...checkImmutable(spec, old, 'volumeLifecycleModes', 'spec'),
  ];
}

export const csiNodeStrategy = (): Strategy =>
  kindStrategy({
    type: 'storage.v1.CSINode',
    allowsUnconditionalUpdate: false,
    returnsDeletedObject: true,
    validate: (object) => checkNodeDrivers(objectsAt(specOf(object), 'drivers')),
    validateChange: (object, old) =>
      checkKnownDrivers(objectsAt(specOf(object), 'drivers'), objectsAt(specOf(old), 'drivers')),
  });

function checkNodeDrivers(drivers: readonly JsonObject[]): readonly FieldError[] {
  const names = drivers.map((driver) => textAt(driver, 'name'));
  return [
    ...checkUnique(names, (index) => `spec.drivers[${index}].name`),
    ...checkEach(drivers, 'spec.drivers', (driver, path) => [
      ...(textAt(driver, 'name') === '' ? [required(`${path}.name`)] : []),
      ...(textAt(driver, 'nodeID') === '' ? [required(`${path}.nodeID`)] : []),
    ]),
  ];
}

/** A driver that is registered may go, but not change. */
function checkKnownDrivers(drivers: readonly JsonObject[], old: readonly JsonObject[]): readonly FieldError[] {
  return drivers.flatMap((driver) => {
    const before = old.find((item) => textAt(item, 'name') === textAt(driver, 'name'));
    if (before === undefined || jsonEqual(before, driver)) return [];
    const shown = {
      Name: textAt(driver, 'name'),
      NodeID: textAt(driver, 'nodeID'),
      TopologyKeys: driver['topologyKeys'] ?? null,
      Allocatable: driver['allocatable'] ?? null,
    };
    return [invalid('spec.drivers', undefined, `${JSON.stringify(shown)}: ${IMMUTABLE}`)];
  });
}

export const volumeAttachmentStrategy = (): Strategy =>
  kindStrategy({
    type: 'storage.v1.VolumeAttachment',
    allowsUnconditionalUpdate: false,
    returnsDeletedObject: true,
    newStatus: () => ({ attached: false }),
    validate: (object) => checkAttachment(specOf(object)),
    validateChange: (object, old) => checkImmutable(object, old, 'spec'),
  });

function checkAttachment(spec: JsonObject): readonly FieldError[] {
  const source = objectAt(spec, 'source');
  const given = ['inlineVolumeSpec', 'persistentVolumeName'].filter((key) => has(source, key));
  const why = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  return [
    ...(textAt(spec, 'attacher') === '' ? [required('spec.attacher')] : []),
    ...(given.length === 0 ? [required('spec.source', why)] : []),
    ...(given.length > 1 ? [invalid('spec.source', undefined, why)] : []),
    ...checkRule('spec.nodeName', textAt(spec, 'nodeName'), dnsSubdomainProblems),
  ];
}

export const csiStorageCapacityStrategy = (): Strategy =>
  kindStrategy({
    type: 'storage.v1.CSIStorageCapacity',
    allowsUnconditionalUpdate: false,
    validate: (object) => checkRule('storageClassName', textAt(object, 'storageClassName'), dnsSubdomainProblems),
    validateChange: (object, old) => [
      ...checkImmutable(object, old, 'nodeTopology'),
      ...checkImmutable(object, old, 'storageClassName'),
    ],
  });

export const volumeAttributesClassStrategy = (): Strategy =>
  kindStrategy({
    type: 'storage.v1.VolumeAttributesClass',
    returnsDeletedObject: true,
    onCreate: (object) => protect(object, 'kubernetes.io/vac-protection'),
    validate: (object) => (textAt(object, 'driverName') === '' ? [required('driverName')] : []),
    validateChange: (object, old) =>
      ['driverName', 'parameters'].flatMap((key) => checkImmutable(object, old, key)),
  });
