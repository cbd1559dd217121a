import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import type { AdmissionAttributes } from '../rest/services.ts';
import type { Store } from '../store/store.ts';
import type { AdmissionPlugin } from './chain.ts';

/** A kind whose new objects name a class, and where the default one is found. */
interface ClassRule {
  readonly group: string;
  readonly plural: string;
  readonly field: string;
  /** An older way to name a class. */
  readonly annotation: string;
  readonly prefix: string;
  readonly defaultMarks: readonly string[];
}

const RULES: readonly ClassRule[] = [
  {
    group: '',
    plural: 'persistentvolumeclaims',
    field: 'storageClassName',
    annotation: 'volume.beta.kubernetes.io/storage-class',
    prefix: '/registry/storage.k8s.io/storageclasses/',
    defaultMarks: [
      'storageclass.kubernetes.io/is-default-class',
      'storageclass.beta.kubernetes.io/is-default-class',
    ],
  },
  {
    group: 'networking.k8s.io',
    plural: 'ingresses',
    field: 'ingressClassName',
    annotation: 'kubernetes.io/ingress.class',
    prefix: '/registry/networking.k8s.io/ingressclasses/',
    defaultMarks: ['ingressclass.kubernetes.io/is-default-class'],
  },
];

/** New claims and ingresses that name no class get the default one. */
export const defaultClasses = (store: Store): AdmissionPlugin => ({
  mutate({ operation, resource, subresource, object }: AdmissionAttributes) {
    if (operation !== 'CREATE' || subresource !== '' || object === undefined) return undefined;
    const rule = RULES.find(({ group, plural }) => resource.plural === plural && resource.group === group);
    if (rule !== undefined) setClass(object, rule, store);
    return undefined;
  },
});

function setClass(object: JsonObject, rule: ClassRule, store: Store): void {
  const spec = objectOf(object['spec']);
  const hasClass = (spec[rule.field] ?? null) !== null || annotationsOf(object)[rule.annotation] !== undefined;
  const name = hasClass ? undefined : defaultClass(rule, store);
  if (name === undefined) return;
  spec[rule.field] = name;
  object['spec'] = spec;
}

/** Of several the newest counts, then the first by name. */
function defaultClass({ prefix, defaultMarks }: ClassRule, store: Store): string | undefined {
  const classes = [...store.list(prefix)]
    .map(({ bytes }) => objectOf(parseJsonBytes(bytes).value))
    .filter((found) => defaultMarks.some((mark) => annotationsOf(found)[mark] === 'true'))
    .map((found) => metadataOf(found))
    .map((metadata) => ({
      name: textOf(metadata['name']),
      born: Date.parse(textOf(metadata['creationTimestamp'])),
    }));
  return classes.toSorted((a, b) => b.born - a.born || (a.name < b.name ? -1 : 1))[0]?.name;
}

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const annotationsOf = (object: JsonObject): JsonObject => objectOf(metadataOf(object)['annotations']);
