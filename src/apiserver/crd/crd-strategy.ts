import type { Schema } from '../../api/schema/structural.ts';
import type { JsonObject } from '../../object/json.ts';
import { isKnownFormat } from '../../object/validation/formats.ts';
import { goQuote } from '../../object/validation/go-text.ts';
import type { Strategy } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../rest/deletion.ts';
import { finalizersOf } from '../rest/object-meta.ts';
import { celChecks } from './cel-checks.ts';
import { setCrdDefaults } from './crd-defaults.ts';
import { validateCrd, validateCrdStatusUpdate, validateCrdUpdate } from './crd-validation.ts';
import { objectAt, parse, storageVersionOf, textsAt } from './definition.ts';
import { type Condition, setConditions } from './names.ts';
import { childrenOf } from './schema-validation.ts';

/** Held until no object of the definition is left (X6). */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

/** What is special about CustomResourceDefinitions themselves. */
export const crdStrategy: Strategy = {
  tracksGeneration: true,
  allowsUnconditionalUpdate: false,
  resetFields: { '': ['status'], status: ['spec'] },
  setDefaults: setCrdDefaults,
  prepareForCreate: (crd) => {
    // As Go writes a status in which nothing is known yet.
    crd['status'] = { conditions: null, acceptedNames: { plural: '', kind: '' } };
    addStoredVersion(crd);
  },
  prepareForUpdate: (crd, old, { subresource }) => {
    if (subresource === 'status') {
      crd['spec'] = old['spec'] ?? {};
      return;
    }
    crd['status'] = { ...objectAt(old, 'status') };
    addStoredVersion(crd);
  },
  beginDeletion: markForDeletion,
  // Never so: what it means is that a first delete is a mark and nothing else.
  isHeld: () => false,
  validate: (crd) => validateCrd(crd, celChecks),
  validateUpdate: (crd, old, { subresource }) =>
    subresource === 'status' ? validateCrdStatusUpdate(crd) : validateCrdUpdate(crd, old, celChecks),
  warnings: (crd, old) => {
    const known = new Set(old === undefined ? [] : unknownFormats(old));
    return unknownFormats(crd)
      .filter((format) => !known.has(format))
      .map((format) => `unrecognized format ${goQuote(format)}`);
  },
};

/** X6: always with our finalizer; how its dependents fare is not asked when a definition goes. */
function markForDeletion(crd: JsonObject, now: Date): void {
  const metadata = metadataOf(crd);
  const finalizers = finalizersOf(metadata).filter((name) => !POLICY_FINALIZERS.has(name));
  metadata['finalizers'] = [...new Set([...finalizers, CLEANUP_FINALIZER])];
  crd['status'] = {
    ...objectAt(crd, 'status'),
    conditions: setConditions(parse(crd).conditions, [PENDING], now),
  };
}

const POLICY_FINALIZERS: ReadonlySet<string> = new Set([ORPHAN_FINALIZER, FOREGROUND_FINALIZER]);

const PENDING: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
};

/** A version that is the storage version may have objects from now on (X3). */
function addStoredVersion(crd: JsonObject): void {
  const storage = storageVersionOf(parse(crd));
  const status = objectAt(crd, 'status');
  const stored = textsAt(status, 'storedVersions');
  if (storage === undefined || stored.includes(storage)) return;
  crd['status'] = { ...status, storedVersions: [...stored, storage] };
}

/** X16: formats without meaning; each is warned of once. */
const unknownFormats = (crd: JsonObject): readonly string[] => [
  ...new Set(parse(crd).versions.flatMap(({ schema }) => (schema === undefined ? [] : formatsIn(schema)))),
];

function formatsIn(schema: Schema): readonly string[] {
  const { format = '', type = '' } = schema;
  const own = format !== '' && !isKnownFormat(type, format) ? [format] : [];
  return [...own, ...childrenOf(schema).flatMap((child) => [...formatsIn(child)])];
}
