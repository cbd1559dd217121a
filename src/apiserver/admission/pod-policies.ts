import { isJsonObject } from '../../object/json.ts';
import { admitPod, type FindPriority } from '../builtin/pod-admission.ts';
import { metadataOf } from '../request.ts';
import type { AdmissionPlugin } from './chain.ts';

const MIRROR = 'kubernetes.io/config.mirror';

/** Priority and tolerations of new pods; before webhooks, which must see them. */
export const podPolicies = (findPriority: FindPriority): AdmissionPlugin => ({
  mutate({ operation, resource, subresource, object }) {
    const isNewPod = operation === 'CREATE' && resource.group === '' && resource.plural === 'pods';
    if (!isNewPod || subresource !== '' || object === undefined) return undefined;
    const annotations = metadataOf(object)['annotations'];
    const isMirror = isJsonObject(annotations) && annotations[MIRROR] !== undefined;
    if (!isMirror) admitPod(object, findPriority);
    return undefined;
  },
});
