import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';

const ENFORCED = 'kubernetes.io/enforce-mountable-secrets';
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
const namesOf = (value: Json | undefined): ReadonlySet<string> =>
  new Set(listOf(value).map((reference) => textOf(reference['name'])));

const containersOf = (spec: JsonObject): readonly (readonly [string, JsonObject])[] => [
  ...listOf(spec['initContainers']).map((container) => ['init container', container] as const),
  ...listOf(spec['containers']).map((container) => ['container', container] as const),
];

/** Whether a pod asks for any Secret. */
export function referencesSecrets(spec: JsonObject): boolean {
  const volumes = listOf(spec['volumes']).map(
    (volume) =>
      volume['secret'] !== undefined ||
      listOf(objectOf(volume['projected'])['sources']).some((source) => source['secret'] !== undefined),
  );
  return (
    listOf(spec['imagePullSecrets']).length > 0 ||
    volumes.includes(true) ||
    containersOf(spec).some(([what, container]) => referencesOf(what, container).length > 0)
  );
}

interface Reference {
  readonly secret: string;
  readonly text: string;
}

function referencesOf(what: string, container: JsonObject): readonly Reference[] {
  const name = textOf(container['name']);
  const variables = listOf(container['env']).flatMap((variable): Reference[] => {
    const reference = objectOf(variable['valueFrom'])['secretKeyRef'];
    if (!isJsonObject(reference)) return [];
    const text = `${what} ${name} with envVar ${textOf(variable['name'])} referencing`;
    return [{ secret: textOf(reference['name']), text }];
  });
  const sources = listOf(container['envFrom']).flatMap((source): Reference[] => {
    const reference = source['secretRef'];
    if (!isJsonObject(reference)) return [];
    return [{ secret: textOf(reference['name']), text: `${what} ${name} with envFrom referencing` }];
  });
  return [...variables, ...sources];
}

/** Why a pod may not use a Secret that its account, which insists on that, does not list; undefined when it may. */
export function checkSecrets(spec: JsonObject, account: JsonObject): string | undefined {
  const metadata = metadataOf(account);
  if (!TRUE.has(textOf(objectOf(metadata['annotations'])[ENFORCED]))) return undefined;
  const name = textOf(metadata['name']);
  const mountable = namesOf(account['secrets']);
  const references: Reference[] = [
    ...listOf(spec['volumes']).flatMap((volume) =>
      isJsonObject(volume['secret'])
        ? [{ secret: textOf(volume['secret']['secretName']), text: 'volume with' }]
        : [],
    ),
    ...containersOf(spec).flatMap(([what, container]) => referencesOf(what, container)),
  ];
  const bad = references.find(({ secret }) => !mountable.has(secret));
  if (bad !== undefined) {
    return `${bad.text} secret.secretName="${bad.secret}" is not allowed because service account ${name} does not reference that secret`;
  }
  const pulled = namesOf(account['imagePullSecrets']);
  const index = listOf(spec['imagePullSecrets']).findIndex((secret) => !pulled.has(textOf(secret['name'])));
  if (index === -1) return undefined;
  const secret = textOf(listOf(spec['imagePullSecrets'])[index]?.['name']);
  return `imagePullSecrets[${index}].name="${secret}" is not allowed because service account ${name} does not reference that imagePullSecret`;
}
