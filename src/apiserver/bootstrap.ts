import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../object/json.ts';
import { stringifyJson } from '../object/json-text.ts';
import { readTable } from './builtin-data/table.ts';
import type { Transport } from './http/in-process.ts';
import { timestamp } from './rest/object-meta.ts';
import type { Store } from './store/store.ts';

export interface BootstrapOptions {
  readonly transport: Transport;
  readonly store: Store;
  /** The address of the service `default/kubernetes`. */
  readonly kubernetesAddress: string;
  readonly clock: Clock;
  /** Whether roles decide anything here. */
  readonly hasRbac: boolean;
}

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const RBAC = 'rbac.authorization.k8s.io';

interface Wanted {
  /** Collection to post to. */
  readonly path: string;
  readonly key: string;
  readonly object: JsonObject;
}

/**
 * Makes what every cluster has from its first moment (G4, Z4): namespaces, roles, priorities, the service of the API.
 * What is there already is left as it is, so an administrator's change survives a restart.
 */
export async function bootstrap({
  transport,
  store,
  clock,
  kubernetesAddress,
  hasRbac,
}: BootstrapOptions): Promise<void> {
  const create = async ({ path, key, object }: Wanted): Promise<void> => {
    if (store.get(key) !== undefined) return;
    const answer = await transport({
      method: 'POST',
      target: path,
      headers: { 'content-type': 'application/json', 'user-agent': 'kube-apiserver' },
      body: stringifyJson(object),
    });
    if (answer.status !== 201 && answer.status !== 409) {
      throw new Error(`${key} could not be made: ${Buffer.from(await answer.bytes()).toString('utf8')}`);
    }
  };
  // All at once: they are one commit, not a hundred. Namespaces are there for the rest before they are on disk.
  const first = NAMESPACES.map((name) => create(namespace(name)));
  const rest = [...priorities(), kubernetesService(kubernetesAddress)].map(create);
  await Promise.all([...first, ...rest, ...(hasRbac ? putPolicy(store, clock) : [])]);
}

const namespace = (name: string): Wanted => ({
  path: '/api/v1/namespaces',
  key: `/registry/core/namespaces/${name}`,
  object: { metadata: { name } },
});

function priorities(): readonly Wanted[] {
  const group = 'scheduling.k8s.io';
  const classes: readonly [string, number, string][] = [
    ['system-cluster-critical', 2_000_000_000, 'for pods that the cluster needs'],
    ['system-node-critical', 2_000_001_000, 'for pods that a node needs'],
  ];
  return classes.map(([name, value, description]) => ({
    path: `/apis/${group}/v1/priorityclasses`,
    key: `/registry/${group}/priorityclasses/${name}`,
    object: { metadata: { name }, value, description },
  }));
}

const kubernetesService = (clusterIP: string): Wanted => ({
  path: '/api/v1/namespaces/default/services',
  key: '/registry/core/services/default/kubernetes',
  object: {
    metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { clusterIP, ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }] },
  },
});

/**
 * The roles and bindings of a new cluster, from the generated table. There are more than a hundred, they are known to be
 * valid, and a server must be ready in a blink: so they go straight to the store.
 */
function putPolicy(store: Store, clock: Clock): readonly Promise<unknown>[] {
  const { entries } = readTable<readonly PolicyObject[]>('policy');
  const creationTimestamp = timestamp(clock.now());
  return Object.entries(entries).flatMap(([plural, objects]) =>
    objects.flatMap(({ metadata, ...content }) => {
      const { name, namespace: inside } = metadata;
      const key = `/registry/${RBAC}/${plural}/${inside === undefined ? '' : `${inside}/`}${name}`;
      if (store.get(key) !== undefined) return [];
      const uid = clock.uuid();
      return store.put(key, 0, (revision) => {
        const full = { ...metadata, uid, creationTimestamp, resourceVersion: String(revision) };
        return Buffer.from(JSON.stringify({ metadata: full, ...content }));
      });
    }),
  );
}

interface PolicyObject extends JsonObject {
  metadata: JsonObject & { name: string; namespace?: string };
}
