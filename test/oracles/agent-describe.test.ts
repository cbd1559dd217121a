import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Cluster } from '../../src/api/cluster-api/core-v1beta2.ts';
import { CustomResourceDefinition } from '../../src/api/generated/apiextensions-v1.ts';
import { Secret } from '../../src/api/generated/core-v1.ts';
import { findCondition, isTrue } from '../../src/object/conditions.ts';
import { type RunningStory, startCoreStory } from '../support/agent-core-story.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import { clusterctl, type DescribedObject, describedObjects } from '../support/clusterctl.ts';
import { startEmbedded } from '../support/embedded.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { type Outcome, outcomeOf, scratchDirectory } from '../support/scratch.ts';

const SLIPWAY = join(import.meta.dirname, '../../bin/slipway.cjs');
const KEY = { namespace: 'test-capi', name: 'test-multinode' };
const { namespace, name: NAME } = KEY;
const needs = needsAll(needsOracle('cluster-api-core'), needsOracle('clusterctl'));

/** A row of `slipway describe cluster --output json`. */
interface OurRow {
  readonly kind: string;
  readonly name?: string;
  readonly why?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly children?: readonly OurRow[];
}

const rowsIn = (row: OurRow): readonly OurRow[] => [row, ...(row.children ?? []).flatMap(rowsIn)];
const labelOf = ({ kind, name = '' }: Pick<OurRow, 'kind' | 'name'>): string => `${kind}/${name}`;

describe('an installed cluster, as clusterctl 1.14.2 and slipway describe it', needs, () => {
  const parts = new AsyncDisposableStack();
  let running: RunningStory;
  let admin = '';
  let home = '';
  before(async () => {
    home = parts.use(await scratchDirectory()).path;
    admin = await parts.use(await startEmbedded()).user('admin', ['system:masters']);
    running = await startCoreStory(admin, KEY, parts);
    await running.story.install([...hostManifests(6), ...clusterManifests()]);
    await running.story.until('the Cluster is available', async () =>
      isTrue(await running.story.client.live.get(Cluster, KEY), 'Available'),
    );
  });
  after(() => parts.disposeAsync());

  async function ask(...words: readonly string[]): Promise<Outcome> {
    const outcome = await clusterctl(home, ...words, '--namespace', namespace, '--kubeconfig', admin);
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome;
  }

  async function theirs(...flags: readonly string[]): Promise<readonly DescribedObject[]> {
    return describedObjects((await ask('describe', 'cluster', NAME, '--show-conditions', 'all', ...flags)).stdout);
  }

  async function ours(): Promise<ReadonlyMap<string, OurRow>> {
    const words = ['describe', 'cluster', NAME, '-n', namespace, '--kubeconfig', admin, '--output=json'];
    const { code, stdout, stderr } = await outcomeOf(process.execPath, [SLIPWAY, ...words], { HOME: home });
    assert.equal(code, 0, stderr);
    const { tree } = JSON.parse(stdout) as { readonly tree: OurRow };
    return new Map(rowsIn(tree).map((row) => [labelOf(row), row]));
  }

  /** Both at one time: conditions go on changing for a while after an installation. */
  async function bothSay(...flags: readonly string[]) {
    for (let attempt = 0; attempt < 10; attempt++) {
      const early = await theirs(...flags);
      const rows = await ours();
      const late = await theirs(...flags);
      if (JSON.stringify(early) === JSON.stringify(late)) return { objects: late, rows };
    }
    return assert.fail('the cluster does not come to rest');
  }

  for (const { what, flags, least } of [
    { what: 'as it is printed', flags: [], least: 4 },
    {
      what: 'with everything that it can show of a cluster but templates',
      flags: ['--grouping=false', '--echo', '--show-machinesets'],
      least: 20,
    },
  ])
    it(`experience/X43: every object of their tree, ${what}, is in ours, with the same conditions`, async () => {
      const { objects, rows } = await bothSay(...flags);
      assert.ok(objects.length >= least, JSON.stringify(objects.map(labelOf)));
      for (const object of objects) {
        const row = rows.get(labelOf(object));
        assert.ok(row, `${labelOf(object)} is not in our tree`);
        const told = Object.fromEntries((row.conditions ?? []).map(({ type, status }) => [type, status]));
        assert.deepEqual(told, object.conditions, labelOf(object));
        assert.ok(Object.keys(object.conditions).length > 0, labelOf(object));
      }
    });

  it('experience/X43: ours has what assisted-service and the hosts say besides', async () => {
    const rows = [...(await ours()).values()];
    const count = (kind: string) => rows.filter((row) => row.kind === kind).length;
    assert.deepEqual(
      ['InfraEnv', 'Agent', 'BareMetalHost', 'Node', 'AgentClusterInstall', 'ClusterDeployment'].map(count),
      [5, 5, 5, 5, 1, 1],
    );
    const known = new Set(
      (await theirs('--grouping=false', '--echo', '--show-machinesets')).map(({ kind }) => kind),
    );
    assert.deepEqual(
      ['InfraEnv', 'Agent', 'BareMetalHost', 'Node'].filter((kind) => known.has(kind)),
      [],
    );
  });

  it('experience/X43: ours says where Machines are behind what is wanted, as theirs does', async () => {
    const { objects, rows } = await bothSay('--show-machinesets');
    const counted = objects.filter(({ kind, replicas }) => kind !== 'Cluster' && replicas.includes('/'));
    assert.deepEqual(
      counted.map(({ kind }) => kind),
      ['OpenshiftAssistedControlPlane', 'MachineDeployment', 'MachineSet'],
    );
    for (const object of counted) {
      const wanted = object.replicas.split('/')[1];
      const why = rows.get(labelOf(object))?.why ?? '';
      const isBehind = object.upToDate !== wanted;
      assert.equal(
        why.includes(`${object.upToDate}/${wanted} up to date`),
        isBehind,
        `${labelOf(object)}: ${why}`,
      );
    }
  });

  it('agent/K4: clusterctl gets the kubeconfig that leads to the cluster', async () => {
    const { stdout } = await ask('get', 'kubeconfig', NAME);
    const [workload] = running.outside.workloads.clusters;
    assert.equal(stdout.trim(), workload?.kubeconfig.trim());
  });

  it('agent/S29: core reaches the cluster through that Secret, which has its label and type, and says so', async () => {
    const secret = await running.story.client.live.get(Secret, { namespace, name: `${NAME}-kubeconfig` });
    assert.equal(secret.type, 'cluster.x-k8s.io/secret');
    assert.equal(secret.metadata.labels?.['cluster.x-k8s.io/cluster-name'], NAME);
    const probe = findCondition(await running.story.client.live.get(Cluster, KEY), 'RemoteConnectionProbe');
    assert.deepEqual([probe?.status, probe?.reason], ['True', 'ProbeSucceeded']);
  });

  it('agent/P7: clusterctl would move the objects of Cluster API and of the providers, and nothing of assisted-service', async () => {
    // As `clusterctl init` does with the definitions of providers.
    const body = { metadata: { labels: { 'clusterctl.cluster.x-k8s.io': '' } } };
    const { items } = await running.story.client.live.list(CustomResourceDefinition);
    for (const { metadata } of items.filter(({ spec }) => spec.group.endsWith('cluster.x-k8s.io')))
      await running.story.client.patch(CustomResourceDefinition, { name: metadata.name }, { type: 'merge', body });
    const { stderr } = await ask('move', '--to-kubeconfig', admin, '--dry-run', '-v', '5');
    const moved = [...stderr.matchAll(/^Creating (\w+)="([^"]+)" Namespace=/gm)].map(
      ([, kind = '', name = '']) => ({
        kind,
        name,
      }),
    );
    const kinds = Map.groupBy(moved, ({ kind }) => kind);
    const counts = (...names: readonly string[]) => names.map((kind) => kinds.get(kind)?.length ?? 0);
    assert.deepEqual(
      counts('Cluster', 'OpenshiftAssistedControlPlane', 'Machine', 'OpenshiftAssistedConfig', 'Metal3Machine'),
      [1, 1, 5, 5, 5],
      stderr,
    );
    assert.deepEqual(counts('OpenshiftAssistedConfigTemplate', 'MachineDeployment', 'MachineSet'), [1, 1, 1]);
    const secrets = new Set(kinds.get('Secret')?.map(({ name }) => name));
    for (const { name } of [...(kinds.get('OpenshiftAssistedConfig') ?? []), { name: `${NAME}-kubeconfig` }])
      assert.ok(secrets.has(name), name);
    assert.deepEqual(
      counts('InfraEnv', 'Agent', 'AgentClusterInstall', 'ClusterDeployment', 'ClusterImageSet', 'BareMetalHost'),
      [0, 0, 0, 0, 0, 0],
    );
  });
});
