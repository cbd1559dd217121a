import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsOf } from '../../../test/support/described-clusters.ts';
import { cluster, machineObjects, object } from '../../../test/support/described-objects.ts';
import { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject } from '../../api/object.ts';
import { objectsOf } from './facts.ts';
import { partsOf, strayAgents } from './machine-parts.ts';

const SHARED = 'bootstrap.cluster.x-k8s.io/infra-env';

/** Two Machines that booted from the ISO of one InfraEnv. */
function sharing(agents: readonly KubeObject[]) {
  const machines = ['w-0', 'w-1'].flatMap((name, at) =>
    machineObjects(name, {
      infraEnv: 'none',
      agent: 'none',
      host: { spec: { bootMACAddress: `52:54:00:00:00:0${at}` } },
    }),
  );
  const labelled = machines.map((one) =>
    one.kind === 'OpenshiftAssistedConfig'
      ? { ...one, metadata: { ...one.metadata, labels: { [SHARED]: 'iso' } } }
      : one,
  );
  const infraEnv = object('agent-install.openshift.io/v1beta1', 'InfraEnv', 'iso');
  return factsOf({ objects: [cluster(), ...labelled, infraEnv, ...agents] });
}

const agent = (name: string, fields: Readonly<Record<string, unknown>> = {}, metadata = {}): KubeObject =>
  object('agent-install.openshift.io/v1beta1', 'Agent', name, {
    metadata: { labels: { 'infraenvs.agent-install.openshift.io': 'iso' }, ...metadata },
    spec: {},
    ...fields,
  });

function ownersOf(agents: readonly KubeObject[]): Readonly<Record<string, string>> {
  const facts = sharing(agents);
  const parts = partsOf(facts, objectsOf(facts, Machine));
  const owned = parts.flatMap(({ machine, agents: own }) =>
    own.map((one) => [one.metadata.name, machine.metadata.name]),
  );
  const strays = strayAgents(facts, parts).map(({ metadata }) => [metadata.name, 'nobody']);
  return Object.fromEntries([...owned, ...strays]);
}

describe('the Machine of an Agent that shares its InfraEnv', () => {
  it('experience/X43: is the one whose host has its network card', () => {
    const inventory = { interfaces: [{ macAddress: '52:54:00:00:00:01'.toUpperCase() }] };
    assert.deepEqual(ownersOf([agent('a', { status: { inventory } })]), { a: 'w-1' });
  });

  it('is the one that the bootstrap provider has written on it', () => {
    const annotations = { 'bootstrap.cluster.x-k8s.io/machine': 'w-0' };
    assert.deepEqual(ownersOf([agent('a', {}, { annotations })]), { a: 'w-0' });
  });

  it('is nobody where none of this is true', () => {
    const annotations = { 'bootstrap.cluster.x-k8s.io/machine': '' };
    assert.deepEqual(ownersOf([agent('a'), agent('b', {}, { annotations })]), { a: 'nobody', b: 'nobody' });
  });

  it('is the one whose host assisted-service made it for', () => {
    const labels = {
      'infraenvs.agent-install.openshift.io': 'iso',
      'agent-install.openshift.io/bmh': 'host-w-1',
    };
    assert.deepEqual(ownersOf([agent('a', {}, { labels })]), { a: 'w-1' });
  });
});
