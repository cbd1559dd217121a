import { isJsonObject } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import { isConditionTrue, parse } from '../crd/definition.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import { forbiddenObject, qualified } from '../status.ts';
import type { Entry, Store } from '../store/store.ts';
import type { AdmissionPlugin } from './chain.ts';

const DEFINITIONS = '/registry/apiextensions.k8s.io/customresourcedefinitions/';
const WHY = 'create not allowed while custom resource definition is terminating';

/** E20: nothing new of a kind that is going. */
export function crdTerminating(store: Store): AdmissionPlugin {
  // A definition is large and seldom changes: each of its states is looked at once.
  const known = new WeakMap<Entry, boolean>();
  const isTerminating = (entry: Entry): boolean => {
    const before = known.get(entry);
    if (before !== undefined) return before;
    const { value } = parseJsonBytes(entry.bytes);
    const answer = isJsonObject(value) && isConditionTrue(parse(value), 'Terminating');
    known.set(entry, answer);
    return answer;
  };
  return {
    mutate({ operation, resource, subresource, name, object = {} }) {
      if (operation !== 'CREATE' || !resource.isCustom || subresource !== '') return undefined;
      const { group, plural } = resource;
      const entry = store.head(`${DEFINITIONS}${qualified(plural, group)}`);
      if (entry === undefined || !isTerminating(entry)) return undefined;
      // A name that the server made up is not told.
      const isGenerated = textOf(metadataOf(object)['generateName']) !== '';
      throw forbiddenObject({ group, resource: plural }, isGenerated ? '' : name, WHY);
    },
  };
}
