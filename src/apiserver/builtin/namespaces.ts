import { type FieldError, invalid } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { qualifiedNameProblems } from '../../object/names.ts';
import type { Strategy } from '../registry/resource.ts';
import { copyKey, ensureObject, nameOf, specOf, statusOf, textAt, textsAt } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** Namespaces (M9): a label with the name, a finalizer of the server and a phase. */
export const namespaceStrategy = (): Strategy =>
  kindStrategy({
    type: 'core.v1.Namespace',
    nameRule: 'label',
    returnsDeletedObject: true,
    selectableFields: { 'status.phase': (namespace) => textAt(statusOf(namespace), 'phase') },
    newStatus: () => ({ phase: 'Active' }),
    setDefaults(namespace) {
      setNameLabel(namespace);
      const status = ensureObject(namespace, 'status');
      if (textAt(status, 'phase') === '') status['phase'] = 'Active';
    },
    onCreate(namespace) {
      const spec = ensureObject(namespace, 'spec');
      const finalizers = textsAt(spec, 'finalizers');
      if (!finalizers.includes('kubernetes')) spec['finalizers'] = [...finalizers, 'kubernetes'];
      // A generated name is known only now.
      setNameLabel(namespace);
    },
    onUpdate(namespace, old) {
      copyKey(ensureObject(namespace, 'spec'), specOf(old), 'finalizers');
    },
    onSubresource(namespace, old, { subresource }) {
      if (subresource === 'finalize') copyKey(namespace, old, 'status');
    },
    beginDeletion(namespace) {
      ensureObject(namespace, 'status')['phase'] = 'Terminating';
    },
    isHeld: (namespace) => textsAt(specOf(namespace), 'finalizers').length > 0,
    validate: (namespace) => textsAt(specOf(namespace), 'finalizers').flatMap(checkFinalizer),
  });

function setNameLabel(namespace: JsonObject): void {
  const name = nameOf(namespace);
  if (name !== '') ensureObject(ensureObject(namespace, 'metadata'), 'labels')[NAME_LABEL] = name;
}

function checkFinalizer(finalizer: string): readonly FieldError[] {
  const problems = qualifiedNameProblems(finalizer);
  if (problems.length > 0) return problems.map((problem) => invalid('spec.finalizers', finalizer, problem));
  const isKnown = finalizer === 'kubernetes' || finalizer.includes('/');
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return isKnown ? [] : [invalid('spec.finalizers', finalizer, why)];
}
