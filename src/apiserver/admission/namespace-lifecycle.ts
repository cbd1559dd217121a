import { isJsonObject } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import { metadataOf } from '../request.ts';
import type { AdmissionAttributes } from '../rest/services.ts';
import { forbiddenObject, notFound } from '../status.ts';
import type { Store } from '../store/store.ts';
import type { AdmissionPlugin } from './chain.ts';

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);
const NAMESPACES = '/registry/core/namespaces/';
// What a namespace is like is not told to those who may only ask what somebody may do in it.
const ALWAYS_ALLOWED = 'localsubjectaccessreviews';

/** V1: nothing new in namespaces that are not there or are going; the first three stay for ever. */
export const namespaceLifecycle = (store: Store): AdmissionPlugin => ({
  mutate(attributes) {
    const { operation, resource, name } = attributes;
    if (operation === 'DELETE' && isNamespace(attributes) && IMMORTAL.has(name)) {
      throw forbiddenObject({ group: '', resource: 'namespaces' }, name, 'this namespace may not be deleted');
    }
    const isNew = operation === 'CREATE' && resource.isNamespaced && resource.plural !== ALWAYS_ALLOWED;
    if (isNew) checkNamespace(store, attributes);
    return undefined;
  },
});

const isNamespace = ({ resource, subresource }: AdmissionAttributes): boolean =>
  resource.group === '' && resource.plural === 'namespaces' && subresource === '';

function checkNamespace(store: Store, { resource, namespace, name }: AdmissionAttributes): void {
  // Uncommitted writes count: a client that got no answer yet may not rely on it, but ours must not contradict it.
  const entry = store.head(`${NAMESPACES}${namespace}`);
  if (entry === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
  const { value } = parseJsonBytes(entry.bytes);
  if (!isJsonObject(value) || metadataOf(value)['deletionTimestamp'] === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbiddenObject({ group: resource.group, resource: resource.plural }, name, why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}
