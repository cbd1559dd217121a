import { setTimeout as sleep } from 'node:timers/promises';
import { Deployment } from '../../src/api/generated/apps-v1.ts';
import { Namespace } from '../../src/api/generated/core-v1.ts';
import type { Kind, KubeObject } from '../../src/api/object.ts';
import {
  ApiServerConfig,
  ClusterOperator,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Network,
  Proxy,
  SINGLETON,
} from '../../src/api/openshift/config-v1.ts';
import { openshiftDefinitions } from '../../src/api/openshift/definitions.schema.ts';
import { KubeControllerManager } from '../../src/api/openshift/operator-v1.ts';
import { time } from '../../src/api/time.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { operatorNames } from '../../src/cloud-operator/names.ts';
import { applySet } from '../../src/kube/apply/apply-set.ts';
import { isServiceUnavailable, isTooManyRequests } from '../../src/kube/client/api-error.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createRestMapper } from '../../src/kube/client/rest-mapper.ts';

/** The release that the cluster has and that both contenders belong to. */
export const RELEASE = '4.21.0';
const NAMES = operatorNames('replace', '');
const NAMESPACES = [
  NAMES.managedNamespace,
  NAMES.operatorNamespace,
  'openshift-config',
  'openshift-config-managed',
];
/** Any that is one: nobody reports to anybody. */
const CLUSTER_ID = '00000000-0000-4000-8000-000000000000';

/** What a cluster on AWS says of itself before its cloud operator starts. */
const FACTS: readonly (readonly [Kind, string, object])[] = [
  [Network, SINGLETON.name, { spec: { serviceNetwork: ['172.30.0.0/16'] } }],
  [Proxy, SINGLETON.name, { spec: {} }],
  [ApiServerConfig, SINGLETON.name, { spec: {} }],
  // Others are there as well; upstream watches these two kinds.
  [ClusterOperator, 'kube-controller-manager', { spec: {} }],
  [KubeControllerManager, SINGLETON.name, { spec: {} }],
  [
    ClusterVersion,
    'version',
    {
      spec: { clusterID: CLUSTER_ID },
      status: { desired: { version: RELEASE, image: `registry.example/release:${RELEASE}` }, history: [] },
    },
  ],
  [
    FeatureGate,
    SINGLETON.name,
    { spec: {}, status: { featureGates: [{ version: RELEASE, enabled: [], disabled: [] }] } },
  ],
  [
    Infrastructure,
    SINGLETON.name,
    {
      spec: { platformSpec: { type: 'AWS' } },
      status: {
        infrastructureName: 'cluster-x7k2p',
        platformStatus: { type: 'AWS', aws: { region: 'us-east-1' } },
        controlPlaneTopology: 'HighlyAvailable',
        infrastructureTopology: 'HighlyAvailable',
      },
    },
  ],
];

/** Teaches a server the kinds of OpenShift. */
export async function defineKinds(client: KubeClient): Promise<void> {
  const clock = new SystemClock();
  await applySet({ client, clock, mapper: createRestMapper(client, clock) }, openshiftDefinitions());
}

/** Makes an empty cluster that knows them one on AWS. */
export async function describeAws(client: KubeClient): Promise<void> {
  for (const name of NAMESPACES) await client.create(Namespace, { metadata: { name } });
  for (const [kind, name, content] of FACTS) await putFact(client, kind, { metadata: { name }, ...content });
}

const NOT_YET_MS = 200;

/** A server answers the first watches of a new kind only after a while: nobody is to wait for that but us. */
export async function watchable(client: KubeClient): Promise<void> {
  for (const [kind] of FACTS) while (!(await canWatch(client, kind))) await sleep(NOT_YET_MS);
}

async function canWatch(client: KubeClient, kind: Kind): Promise<boolean> {
  try {
    for await (const _first of client.live.watch(kind)) return true;
    return false;
  } catch (thrown) {
    if (isTooManyRequests(thrown) || isServiceUnavailable(thrown)) return false;
    throw thrown;
  }
}

async function putFact(client: KubeClient, kind: Kind, fact: Partial<KubeObject> & { readonly status?: object }) {
  const { status, ...rest } = fact;
  const apiVersion = `${kind.group}/${kind.version}`;
  const made = await client.create(kind, { ...rest, apiVersion, kind: kind.kind } as KubeObject);
  if (status !== undefined) await client.updateStatus(kind, { ...made, status } as KubeObject);
}

/**
 * Plays the controller of Deployments, without any pods: each generation is rolled out as soon as it is seen. Until the
 * signal aborts.
 */
export async function rollOutAll(client: KubeClient, signal: AbortSignal): Promise<void> {
  try {
    for (; ; signal.throwIfAborted()) await rollOutSeen(client, signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}

async function rollOutSeen(client: KubeClient, signal: AbortSignal): Promise<void> {
  const { managedNamespace: namespace } = NAMES;
  for await (const event of client.live.watch(Deployment, { namespace, signal })) {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') await rollOut(client, event.object);
  }
}

async function rollOut(client: KubeClient, deployment: Deployment): Promise<void> {
  const { metadata, spec, status } = deployment;
  const { generation = 0 } = metadata;
  if (status?.observedGeneration === generation) return;
  const replicas = spec.replicas ?? 1;
  const now = time(new Date());
  const condition = (type: string, reason: string) =>
    ({ type, reason, status: 'True', message: 'done', lastUpdateTime: now, lastTransitionTime: now }) as const;
  const body = {
    status: {
      observedGeneration: generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      conditions: [
        condition('Available', 'MinimumReplicasAvailable'),
        condition('Progressing', 'NewReplicaSetAvailable'),
      ],
    },
  };
  const { namespace = '', name } = metadata;
  // A patch: whoever writes the Deployment meanwhile is not in the way.
  await client.patch(Deployment, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}

/** Waits until the ClusterOperator says that everything is deployed. */
export async function available(client: KubeClient, signal: AbortSignal): Promise<void> {
  for (; ; signal.throwIfAborted()) {
    for await (const event of client.live.watch(ClusterOperator, { signal })) {
      if (event.type !== 'BOOKMARK' && isAvailable(event.object)) return;
    }
  }
}

const isAvailable = ({ metadata, status }: ClusterOperator): boolean =>
  metadata.name === NAMES.clusterOperator &&
  status?.conditions?.some((one) => one.type === 'Available' && one.status === 'True') === true;

const QUIET_MS = 3000;
const MOST_LOOKS = 20;

/** Waits until a figure does not grow any more; a minute at most. */
export async function steady(figure: () => Promise<number>): Promise<void> {
  let before = await figure();
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    await sleep(QUIET_MS);
    const now = await figure();
    if (now === before) return;
    before = now;
  }
}
