import type { Clock } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import { generateName } from '../../object/names.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import type { AdmissionAttributes } from '../rest/services.ts';
import { forbiddenObject, type StatusError } from '../status.ts';
import type { Store } from '../store/store.ts';
import type { AdmissionPlugin } from './chain.ts';
import { checkSecrets, referencesSecrets } from './secret-references.ts';

const PODS = { group: '', resource: 'pods' };
const DEFAULT_ACCOUNT = 'default';
const MIRROR = 'kubernetes.io/config.mirror';
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
/** A token that nobody warned about expires after an hour; the seconds above it mark it as such. */
const TOKEN_SECONDS = 3607;
/** A controller gives every new namespace its account; a pod may be faster. */
const ACCOUNT_WAIT_MS = 1500;

export interface ServiceAccountOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** By which a request waits for an account: it may be what others wait for to let time pass. */
  readonly real: Clock;
}

/** Pods get an account that exists, its token and its pull secrets (V1, lab E3). */
export function serviceAccounts(options: ServiceAccountOptions): AdmissionPlugin {
  return {
    mutate(attributes) {
      const { operation, resource, subresource, object } = attributes;
      const isNewPod = operation === 'CREATE' && resource.group === '' && resource.plural === 'pods';
      if (!isNewPod || subresource !== '' || object === undefined) return undefined;
      if (annotationsOf(object)[MIRROR] !== undefined) {
        checkMirror(attributes, specOf(object));
        return undefined;
      }
      const spec = specOf(object);
      if (textOf(spec['serviceAccountName']) === '') spec['serviceAccountName'] = DEFAULT_ACCOUNT;
      const account = accountOf(attributes, textOf(spec['serviceAccountName']), options);
      const complete = (found: JsonObject): undefined => completePod(attributes, spec, found, options.clock);
      return account instanceof Promise ? account.then(complete) : complete(account);
    },
  };
}

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
const annotationsOf = (object: JsonObject): JsonObject => objectOf(metadataOf(object)['annotations']);

function specOf(pod: JsonObject): JsonObject {
  const spec = objectOf(pod['spec']);
  pod['spec'] = spec;
  return spec;
}

const refused = ({ name }: AdmissionAttributes, why: string): StatusError => forbiddenObject(PODS, name, why);

/** A mirror pod is the kubelet's own; it must not gain anything by being shown. */
function checkMirror(attributes: AdmissionAttributes, spec: JsonObject): void {
  if (textOf(spec['serviceAccountName']) !== '') {
    throw refused(attributes, 'a mirror pod may not reference service accounts');
  }
  if (referencesSecrets(spec)) throw refused(attributes, 'a mirror pod may not reference secrets');
  const sources = listOf(spec['volumes']).flatMap((volume) => listOf(objectOf(volume['projected'])['sources']));
  if (sources.some((source) => source['serviceAccountToken'] !== undefined)) {
    throw refused(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
  }
}

function accountOf(
  attributes: AdmissionAttributes,
  name: string,
  { store, real }: ServiceAccountOptions,
): Promise<JsonObject> | JsonObject {
  const key = `/registry/core/serviceaccounts/${attributes.namespace}/${name}`;
  const found = stored(store, key);
  if (found !== undefined) return found;
  const why = `error looking up service account ${attributes.namespace}/${name}: serviceaccount "${name}" not found`;
  if (name !== DEFAULT_ACCOUNT) throw refused(attributes, why);
  return awaited(store, real, key).then((account) => {
    if (account === undefined) throw refused(attributes, why);
    return account;
  });
}

function stored(store: Store, key: string): JsonObject | undefined {
  const entry = store.get(key);
  if (entry === undefined) return undefined;
  return objectOf(parseJsonBytes(entry.bytes).value);
}

async function awaited(store: Store, real: Clock, key: string): Promise<JsonObject | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  using _subscription = store.subscribe(key, () => resolve(undefined));
  using _timer = real.timer(ACCOUNT_WAIT_MS, () => resolve(undefined));
  await promise;
  return stored(store, key);
}

function completePod(
  attributes: AdmissionAttributes,
  spec: JsonObject,
  account: JsonObject,
  clock: Clock,
): undefined {
  if (isMounted(spec, account)) mountToken(spec, clock);
  const secrets = listOf(account['imagePullSecrets']);
  if (listOf(spec['imagePullSecrets']).length === 0 && secrets.length > 0) {
    spec['imagePullSecrets'] = secrets.map((secret) => ({ name: textOf(secret['name']) }));
  }
  const problem = checkSecrets(spec, account);
  if (problem !== undefined) throw refused(attributes, problem);
  return undefined;
}

/** The pod decides, then the account. */
function isMounted(spec: JsonObject, account: JsonObject): boolean {
  const wish = spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true;
  return wish === true;
}

function mountToken(spec: JsonObject, clock: Clock): void {
  const volumes = listOf(spec['volumes']);
  const existing = volumes.map((volume) => textOf(volume['name'])).find((name) => name.startsWith(VOLUME_PREFIX));
  const name = existing ?? generateName(VOLUME_PREFIX, () => clock.random());
  const containers = [...listOf(spec['initContainers']), ...listOf(spec['containers'])];
  const lacking = containers.filter(
    (container) => !listOf(container['volumeMounts']).some((mount) => mount['mountPath'] === TOKEN_PATH),
  );
  for (const container of lacking) {
    const mount = { name, readOnly: true, mountPath: TOKEN_PATH };
    container['volumeMounts'] = [...listOf(container['volumeMounts']), mount];
  }
  if (existing === undefined && lacking.length > 0) spec['volumes'] = [...volumes, tokenVolume(name)];
}

const tokenVolume = (name: string): JsonObject => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
});
