import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { Predicate } from '../../../kube/controller/predicates.ts';
import { isAnotherWish } from './scheduling-queue.ts';

/** What a kubelet reports of a pod that runs changes nothing for others (A6). */
export const isPodNews: Predicate<Pod> = ({ type, old, object }) =>
  type !== 'update' ||
  old === undefined ||
  old.metadata.uid !== object.metadata.uid ||
  old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
  old.spec.nodeName !== object.spec.nodeName ||
  old.status?.phase !== object.status?.phase ||
  isAnotherWish(old, object);
