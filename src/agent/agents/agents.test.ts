import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import type { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { HOST_ANNOTATION, type Metal3Machine } from '../../api/metal3/infrastructure-v1beta2.ts';
import type { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import { agentsCondition } from '../bootstrap/agents-condition.ts';
import { AGENT_MACHINE_ANNOTATION, chosenAgent } from './agent-machine.ts';
import { plannedAgent, strayPatch } from './desired.ts';
import { hostsOf, matchingHosts } from './host-match.ts';
import { resolvedNode } from './host-metadata.ts';

interface Given {
  readonly approved?: boolean;
  readonly created?: string;
  readonly machine?: string;
  readonly macs?: readonly string[];
  readonly state?: string;
}

const agent = (name: string, { approved, created = '', machine, macs = [], state = '' }: Given = {}): Agent => ({
  apiVersion: 'agent-install.openshift.io/v1beta1',
  kind: 'Agent',
  metadata: {
    name,
    creationTimestamp: created,
    ...(machine !== undefined && { annotations: { [AGENT_MACHINE_ANNOTATION]: machine } }),
  },
  spec: { ...(approved !== undefined && { approved }) },
  status: { debugInfo: { state }, inventory: { interfaces: macs.map((macAddress) => ({ macAddress })) } },
});

const machine = (name: string, host: string): Metal3Machine => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
  kind: 'Metal3Machine',
  metadata: { name, annotations: { [HOST_ANNOTATION]: host } },
});

const host = (
  name: string,
  spec: Partial<BareMetalHost['spec']>,
  status: BareMetalHost['status'] = {},
): BareMetalHost => ({
  apiVersion: 'metal3.io/v1alpha1',
  kind: 'BareMetalHost',
  metadata: { name, namespace: 'n', uid: `uid-${name}` },
  spec: { online: true, ...spec },
  status,
});

describe('who stays of several Agents', () => {
  it('agent/G4: is the approved one, then the oldest, then the first by name, in whatever order they come', () => {
    const [old, young, also] = [
      agent('z', { created: '2026-01-01' }),
      agent('a', { created: '2026-01-02' }),
      agent('b', { created: '2026-01-02' }),
    ];
    const approved = agent('c', { created: '2026-01-03', approved: true });
    assert.equal(chosenAgent([]), undefined);
    assert.equal(chosenAgent([young, old]), old);
    assert.equal(chosenAgent([also, young]), young);
    assert.equal(chosenAgent([old, approved, young]), approved);
  });
});

describe('the host of an Agent', () => {
  const UUID = '11111111-2222-3333-4444-555555555555';
  const hosts = hostsOf(
    [
      machine('m1', 'n/h1'),
      machine('m2', 'n/h2'),
      machine('m3', 'n/h3'),
      machine('m4', 'n/none'),
      machine('m5', ''),
    ],
    [
      host(
        'h1',
        { bootMACAddress: 'AA:BB:CC:00:00:01' },
        { hardware: { nics: [{ mac: 'aa-bb-cc-00-00-11' }, {}] } },
      ),
      host('h2', {
        bmc: { address: `redfish-virtualmedia://bmc/redfish/v1/Systems/${UUID}`, credentialsName: 'x' },
      }),
      host('h3', { bootMACAddress: '00:00:00:00:00:00' }),
      host('free', { bootMACAddress: 'aa:bb:cc:00:00:77' }),
    ],
  );
  for (const { name, given, want } of [
    {
      name: 'has its boot MAC address, in any spelling',
      given: agent('x', { macs: ['aa:bb:cc:00:00:01'] }),
      want: ['m1'],
    },
    {
      name: 'has one of its other MAC addresses',
      given: agent('x', { macs: ['ff:ff:ff:00:00:00', 'AA:BB:CC:00:00:11'] }),
      want: ['m1'],
    },
    { name: 'has its system UUID', given: agent(UUID.toUpperCase()), want: ['m2'] },
    { name: 'is not one without a MAC address', given: agent('x', { macs: ['00:00:00:00:00:00', ''] }), want: [] },
    { name: 'is not one that no machine has', given: agent('x', { macs: ['aa:bb:cc:00:00:77'] }), want: [] },
    { name: 'may be two', given: agent(UUID, { macs: ['aa:bb:cc:00:00:01'] }), want: ['m1', 'm2'] },
  ])
    it(name, () =>
      assert.deepEqual(
        matchingHosts(given, hosts).map(({ infraMachine }) => infraMachine),
        want,
      ),
    );

  it('gives the values of variables, and leaves what it does not know to the node', () => {
    const [first] = hosts;
    assert.ok(first !== undefined);
    const { spec, hostname, labels } = resolvedNode(
      {
        sshAuthorizedKey: 'k',
        nodeRegistration: {
          name: '${METADATA_LOCAL_HOSTNAME}',
          kubeletExtraLabels: [
            'a=$METADATA_UUID',
            'b=x-${METADATA_METAL3_NAMESPACE}',
            'c=$OTHER',
            'static=1',
            'broken',
          ],
          providerID: 'metal3://${METADATA_PROVIDERID}',
        },
      },
      first,
    );
    assert.deepEqual(spec, {
      sshAuthorizedKey: 'k',
      nodeRegistration: {
        kubeletExtraLabels: ['a=uid-h1', 'b=x-n', 'c=$OTHER', 'static=1', 'broken'],
        providerID: 'metal3://n/h1/m1',
      },
    });
    assert.equal(hostname, 'h1');
    assert.deepEqual(labels, { a: 'uid-h1', b: 'x-n', static: '1' });
    assert.deepEqual(resolvedNode({ nodeRegistration: { name: '$OTHER' } }, first), {
      spec: { nodeRegistration: { name: '$OTHER' } },
      labels: {},
    });
    assert.deepEqual(resolvedNode({}, first), { spec: {}, labels: {} });
  });

  it('agent/I4: shows that a label is none, before anything is installed; in keys nothing is replaced', () => {
    const [first] = hosts;
    assert.ok(first);
    const planned = (label: string) =>
      plannedAgent({
        agent: agent('x'),
        machine: { metadata: { name: 'm' } } as Machine,
        config: {
          apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
          kind: 'OpenshiftAssistedConfig',
          metadata: { name: 'm' },
          spec: { nodeRegistration: { kubeletExtraLabels: [label] } },
        },
        rivals: [],
        isHeld: false,
        host: first,
      });
    assert.equal(planned('a=$METADATA_UUID').outcome, 'approved');
    assert.throws(
      () => planned('a=$METADATA_PROVIDERID'),
      /kubeletExtraLabels\[0\] is "a=n\/h1\/m1", and a kubelet/,
    );
    assert.throws(
      () => planned('$METADATA_NAME=a'),
      /kubeletExtraLabels\[0\] is "\$METADATA_NAME=a", and a kubelet/,
    );
  });
});

describe('an Agent without a Machine', () => {
  it('is marked, and loses an approval only while nothing is installed on it', () => {
    const mark = { metadata: { annotations: { [AGENT_MACHINE_ANNOTATION]: '' } } };
    assert.deepEqual(strayPatch(agent('a')), mark);
    assert.deepEqual(strayPatch(agent('a', { machine: '' })), {});
    assert.deepEqual(strayPatch(agent('a', { machine: '', approved: true, state: 'known' })), {
      spec: { approved: false },
    });
    assert.deepEqual(strayPatch(agent('a', { approved: true, state: 'installing' })), mark);
  });
});

describe('what a config tells of its Agents', () => {
  for (const { name, agents, want } of [
    { name: 'nothing before there are any', agents: [], want: undefined },
    { name: 'nothing of those that nobody has looked at', agents: [agent('x')], want: undefined },
    { name: 'nothing of those of other Machines', agents: [agent('x', { machine: 'other' })], want: undefined },
    {
      name: 'that its own is approved',
      agents: [agent('x', { machine: 'm', approved: true })],
      want: 'AgentsMatched',
    },
    {
      name: 'that its own is held',
      agents: [agent('x', { machine: 'm' }), agent('y', { machine: '' })],
      want: 'AgentHeld',
    },
    {
      name: 'that there are two of it',
      agents: [agent('x', { machine: 'm' }), agent('y', { machine: 'm' })],
      want: 'DuplicateAgent',
    },
    {
      name: 'that one has no Machine',
      agents: [agent('x', { machine: 'm', approved: true }), agent('y', { machine: '' })],
      want: 'AgentWithoutMachine',
    },
  ])
    it(name, () => assert.equal(agentsCondition(agents, 'm')?.reason, want));

  it('names ten of many', () => {
    const many = Array.from({ length: 12 }, (_none, at) => agent(`stray-${at + 10}`, { machine: '' }));
    assert.match(agentsCondition(many, 'm')?.message ?? '', /^Agents stray-10, .*stray-19 and 2 more booted/);
  });
});
