import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { freePort } from '../../oracles/run/port.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Namespace } from '../../src/api/generated/core-v1.ts';
import type { Kind, KubeObject } from '../../src/api/object.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { applySet } from '../../src/kube/apply/apply-set.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createRestMapper } from '../../src/kube/client/rest-mapper.ts';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import { connect } from '../../src/kube/transport/connection.ts';
import { isTrue } from '../../src/object/conditions.ts';
import { clusterManifests, hostManifests } from '../../test/support/agent-manifests.ts';
import { agentCrds } from '../../test/support/agent-world.ts';
import { type AuditedRequest, ServerAudit } from '../../test/support/ccm-oracle-audit.ts';
import { startKubernetes } from '../../test/support/kubernetes.ts';
import { steady } from '../cloud-operator/cluster.ts';
import {
  type ContenderName,
  type ContenderSetup,
  PROVIDER_NAMES,
  PROVIDERS,
  type Programs,
  type ProviderName,
  startContender,
} from './contenders.ts';
import { portOf, startOutside } from './outside.ts';

const NAMESPACE = 'bench';
const NAME = 'bench';
const MACHINES = { controlPlane: 3, workers: 2 } as const;
const COUNT = MACHINES.controlPlane + MACHINES.workers;
/** What takes minutes outside takes seconds: the time of others is in both figures. */
const PACE = 0.01;
const REPOSITORY_OVERRIDE = 'cluster.x-k8s.io/release-image-repository-override';
/** A server that has just learned many kinds works on descriptions of them for a while. */
const WARM_UP_MS = 5000;
const POLL_MS = 500;
/** Far more than either needs. */
const LONGEST_MS = 600_000;

export interface ComparisonFigures {
  /** From the first object that was applied until the control plane was available. */
  readonly availableSeconds: number;
  /** … and all Machines ran. */
  readonly seconds: number;
  /** In that time, of both programs. */
  readonly processorSeconds: number;
  /** The sum of the most that each of them ever held. */
  readonly peakBytes: number;
  /** Since the first object was applied, until there were no more. */
  readonly requests: Readonly<Record<ProviderName, readonly AuditedRequest[]>>;
}

/** One contender installs one cluster on servers that have never seen anybody. */
export async function compared(name: ContenderName, programs: Programs): Promise<ComparisonFigures> {
  await using parts = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  const guard = parts.use(new ExitGuard(folder));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const audit = await ServerAudit.prepare(folder);
  const plane = parts.use(
    await startKubernetes({ purpose: 'bench', extraArguments: { kubeApiserver: audit.serverArguments } }),
  );
  const [clock, log] = [new SystemClock(), SILENT_LOG];
  const access = await loadKubeconfig({ env: {}, homeDir: homedir(), kubeconfigFlag: plane.admin });
  const { transport } = parts.use(connect(access, { clock, log }));
  const client = createClient({ transport, fieldManager: 'bench', clock, log });
  await apply(client, agentCrds() as readonly unknown[] as readonly KubeObject[]);
  await sleep(WARM_UP_MS);
  const outside = parts.use(await startOutside({ transport, workloadPort: await freePort(), pace: PACE }));
  const [bootstrap = '', controlPlane = ''] = await Promise.all(
    PROVIDER_NAMES.map((one) => plane.user(PROVIDERS[one].user, ['system:masters'])),
  );
  const setup: ContenderSetup = {
    programs,
    kubeconfigs: { bootstrap, controlPlane },
    ports: [portOf(plane.url), ...outside.ports],
    folder,
    guard,
  };
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  return await contest({ name, setup, client, audit, releases: outside.releaseRepository });
}

interface Contest {
  readonly name: ContenderName;
  readonly setup: ContenderSetup;
  readonly client: KubeClient;
  readonly audit: ServerAudit;
  /** Where images of releases are. */
  readonly releases: string;
}

async function contest({ name, setup, client, audit, releases }: Contest): Promise<ComparisonFigures> {
  await using running = new AsyncDisposableStack();
  const started = await startContender(name, setup, running);
  const signal = AbortSignal.any([...started.map((one) => one.signal), AbortSignal.timeout(LONGEST_MS)]);
  const asked = async () => Promise.all(PROVIDER_NAMES.map((one) => audit.requestsOf(PROVIDERS[one].user)));
  const quiet = () => steady(async () => (await asked()).flat().length);
  while ((await asked()).some((all) => !all.some(({ verb }) => verb === 'watch')))
    await sleep(POLL_MS, 0, { signal });
  await quiet();
  signal.throwIfAborted();
  const before = await asked();
  const processor = () => started.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
  const [startedMs, processorBefore] = [performance.now(), processor()];
  await apply(client, hostManifests(COUNT, NAMESPACE));
  await apply(client, manifests(releases));
  const since = () => (performance.now() - startedMs) / 1000;
  await seen(client, OpenshiftAssistedControlPlane, signal, (all) => all.some((one) => isTrue(one, 'Available')));
  const availableSeconds = since();
  await seen(client, Machine, signal, areRunning);
  const seconds = since();
  const processorSeconds = processor() - processorBefore;
  await quiet();
  const after = await asked();
  const [bootstrap = [], controlPlane = []] = after.map((all, at) => all.slice(before[at]?.length ?? 0));
  const peakBytes = started.reduce((sum, one) => sum + one.peakBytes, 0);
  return { availableSeconds, seconds, processorSeconds, peakBytes, requests: { bootstrap, controlPlane } };
}

const manifests = (releases: string): readonly KubeObject[] =>
  clusterManifests({
    name: NAME,
    namespace: NAMESPACE,
    ...MACHINES,
    annotations: { [REPOSITORY_OVERRIDE]: releases },
  });

async function apply(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  const clock = new SystemClock();
  await applySet({ client, clock, mapper: createRestMapper(client, clock) }, objects);
}

const areRunning = (all: readonly Machine[]): boolean =>
  all.length === COUNT && all.every(({ status }) => status?.phase === 'Running');

/** Waits until all objects of a kind are as they should be. A stream that ends begins again with all that is there. */
async function seen<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  signal: AbortSignal,
  areDone: (all: readonly T[]) => boolean,
): Promise<void> {
  for (; ; signal.throwIfAborted()) {
    const all = new Map<string, T>();
    for await (const event of client.live.watch(kind, { namespace: NAMESPACE, signal })) {
      if (event.type === 'ADDED' || event.type === 'MODIFIED') all.set(event.object.metadata.name, event.object);
      if (event.type === 'DELETED') all.delete(event.object.metadata.name);
      if (areDone([...all.values()])) return;
    }
  }
}
