import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeCondition, NodeStatus } from '../../../api/generated/core-v1-types.ts';
import { basicFacts, type FactsAddition, factsWith } from './node-facts.ts';
import type { NodeSettings } from './node-object.ts';
import { hasChanged, nodeStatus, type StatusInput, statusPatch } from './node-status.ts';

const SYSTEM = {
  architecture: 'amd64',
  operatingSystem: 'linux',
  kernelVersion: '6.1.0',
  bootID: 'boot',
  machineID: 'machine',
  systemUUID: 'uuid',
};
const SETTINGS: NodeSettings = { name: 'w-1', address: { api: '10.16.1.1', wire: '127.16.1.1' } };
const NOW = new Date('2030-01-01T00:00:00Z');
const LATER = new Date('2030-01-01T00:05:00Z');

function status({
  added = {},
  ...input
}: Partial<StatusInput> & { readonly added?: FactsAddition } = {}): NodeStatus {
  const facts = factsWith(basicFacts({ system: SYSTEM, images: ['slipway'] }), [added]);
  return nodeStatus({ settings: SETTINGS, facts, version: { major: '1', minor: '36' }, now: NOW, ...input });
}

const condition = ({ conditions = [] }: NodeStatus, type: string): NodeCondition | undefined =>
  conditions.find((one) => one.type === type);

describe('nodeStatus', () => {
  it('lab/N3: says what there is, and as much of it is for pods', () => {
    const { capacity, allocatable } = status();
    assert.deepEqual(capacity, { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' });
    assert.deepEqual(allocatable, capacity);
  });

  it('lab/N3: has extended resources, of which pods may get less', () => {
    const added = { capacity: { 'acme.example/npu': '3', pods: '20' }, allocatable: { 'acme.example/npu': '2' } };
    const { capacity, allocatable } = status({ added });
    assert.deepEqual([capacity?.['acme.example/npu'], allocatable?.['acme.example/npu']], ['3', '2']);
    assert.deepEqual([capacity?.['pods'], allocatable?.['pods']], ['20', '20']);
  });

  it('lab/N3: keeps resources that others announced, until it is told that they are gone', () => {
    const existing = { capacity: { 'foreign.example/x': '5', cpu: '99' }, allocatable: { gone: '1' } };
    const kept = status({ existing });
    assert.equal(kept.allocatable?.['foreign.example/x'], '5');
    assert.equal(kept.capacity?.['cpu'], '4');
    assert.equal(kept.allocatable?.['gone'], undefined);
    const removed = status({ existing, added: { removedResources: ['foreign.example/x'] } });
    assert.equal(removed.capacity?.['foreign.example/x'], undefined);
  });

  it('lab/N3: names the machine, and the minor version of the API server as its own', () => {
    assert.deepEqual(status().nodeInfo, {
      ...SYSTEM,
      osImage: 'Slipway lab',
      containerRuntimeVersion: 'slipway://lab',
      kubeletVersion: 'v1.36.0+slipway',
      kubeProxyVersion: '',
    });
  });

  it('lab/N3: names its port, its images and its volumes', () => {
    const volumesAttached = [{ name: 'csi/v', devicePath: '' }];
    const found = status({ added: { volumesInUse: ['csi/v'], volumesAttached } });
    assert.deepEqual(found.daemonEndpoints, { kubeletEndpoint: { Port: 10_250 } });
    assert.deepEqual(found.images, [{ names: ['slipway'] }]);
    assert.deepEqual(found.volumesInUse, ['csi/v']);
    assert.deepEqual(found.volumesAttached, volumesAttached);
  });

  it('lab/N3: leaves attached volumes to whoever attaches them', () => {
    const existing = { volumesAttached: [{ name: 'csi/v', devicePath: '' }] };
    assert.deepEqual(status({ existing }).volumesAttached, existing.volumesAttached);
    assert.equal(Object.hasOwn(status(), 'volumesAttached'), false);
  });

  it('names no more than 50 images', () => {
    const images = Array.from({ length: 80 }, (_, at) => `image-${at}`);
    assert.equal(status({ added: { images } }).images?.length, 50);
  });

  it('lab/N3: is under no pressure and ready, Ready as the last condition', () => {
    const times = { lastHeartbeatTime: '2030-01-01T00:00:00Z', lastTransitionTime: '2030-01-01T00:00:00Z' };
    assert.deepEqual(status().conditions, [
      {
        type: 'MemoryPressure',
        status: 'False',
        reason: 'KubeletHasSufficientMemory',
        message: 'kubelet has sufficient memory available',
        ...times,
      },
      {
        type: 'DiskPressure',
        status: 'False',
        reason: 'KubeletHasNoDiskPressure',
        message: 'kubelet has no disk pressure',
        ...times,
      },
      {
        type: 'PIDPressure',
        status: 'False',
        reason: 'KubeletHasSufficientPID',
        message: 'kubelet has sufficient PID available',
        ...times,
      },
      {
        type: 'Ready',
        status: 'True',
        reason: 'KubeletReady',
        message: 'kubelet is posting ready status',
        ...times,
      },
    ]);
  });

  it('lab/N3: is not ready while something is wrong, and says what', () => {
    const one = condition(status({ added: { problems: ['the runtime is down'] } }), 'Ready');
    assert.deepEqual(
      [one?.status, one?.reason, one?.message],
      ['False', 'KubeletNotReady', 'the runtime is down'],
    );
    const two = condition(status({ added: { problems: ['a', 'b'] } }), 'Ready');
    assert.equal(two?.message, '[a, b]');
  });

  it('lab/N3: moves the time of a transition with the status of a condition, that of the heartbeat always', () => {
    const existing = status();
    const same = condition(status({ existing, now: LATER }), 'Ready');
    assert.deepEqual(
      [same?.lastTransitionTime, same?.lastHeartbeatTime],
      ['2030-01-01T00:00:00Z', '2030-01-01T00:05:00Z'],
    );
    const other = condition(status({ existing, now: LATER, added: { problems: ['x'] } }), 'Ready');
    assert.equal(other?.lastTransitionTime, '2030-01-01T00:05:00Z');
  });

  it('lab/N3: takes back what a controller assumed while nothing was heard, and leaves conditions of others', () => {
    const network = { type: 'NetworkUnavailable', status: 'False' };
    const assumed = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' };
    const { conditions } = status({ existing: { conditions: [assumed, network] }, now: LATER });
    assert.deepEqual(
      conditions?.map(({ type, status: is }) => `${type} ${is}`),
      [
        'Ready True',
        'NetworkUnavailable False',
        'MemoryPressure False',
        'DiskPressure False',
        'PIDPressure False',
      ],
    );
  });

  it('lab/N2: has the addresses of the plan where no cloud knows them', () => {
    assert.deepEqual(status().addresses, [
      { type: 'InternalIP', address: '10.16.1.1' },
      { type: 'ExternalIP', address: '127.16.1.1' },
      { type: 'Hostname', address: 'w-1' },
    ]);
    assert.deepEqual(status({ settings: { name: 'w-1', hostname: 'h' } }).addresses, [
      { type: 'Hostname', address: 'h' },
    ]);
  });

  it('lab/N2: has only its name until a cloud writes addresses, and leaves those alone', () => {
    const settings = { ...SETTINGS, cloudProvider: 'external', forcedAddress: '10.16.1.1' } as const;
    assert.deepEqual(status({ settings }).addresses, [{ type: 'Hostname', address: 'w-1' }]);
    const addresses = [{ type: 'InternalIP', address: '10.16.1.7' }];
    assert.deepEqual(status({ settings, existing: { addresses } }).addresses, addresses);
  });
});

describe('hasChanged', () => {
  const base = status();
  const rows: readonly (readonly [string, NodeStatus | undefined, NodeStatus, boolean])[] = [
    ['nothing but the time of the heartbeat', base, status({ existing: base, now: LATER }), false],
    ['the order of conditions', base, { ...base, conditions: base.conditions?.toReversed() ?? [] }, false],
    ['how an amount is written', base, { ...base, capacity: { ...base.capacity, cpu: '4000m' } }, false],
    ['an empty list', base, { ...base, volumesAttached: [] }, false],
    ['an amount', base, status({ added: { capacity: { cpu: '5' } } }), true],
    ['readiness', base, status({ existing: base, added: { problems: ['x'] } }), true],
    ['an image', base, status({ added: { images: ['other'] } }), true],
    ['everything', undefined, base, true],
  ];
  for (const [what, old, now, isChange] of rows) {
    it(`lab/N4: ${what} is ${isChange ? 'a' : 'no'} change`, () => assert.equal(hasChanged(old, now), isChange));
  }
});

describe('statusPatch', () => {
  it('lab/N4: is only the conditions when nothing else changed', () => {
    const [old, now] = [status(), status({ existing: status(), now: LATER })];
    assert.deepEqual(statusPatch(old, now), { status: { conditions: now.conditions } });
  });

  it('lab/N4: says nothing of what others wrote', () => {
    const foreign = { type: 'NetworkUnavailable', status: 'False' };
    const existing = {
      ...status(),
      conditions: [foreign],
      capacity: { ...status().capacity, 'x.example/y': '1' },
    };
    const body = JSON.stringify(statusPatch(existing, status({ existing })));
    assert.doesNotMatch(body, /NetworkUnavailable/);
    assert.doesNotMatch(body, /"capacity"/);
    assert.match(body, /"allocatable":\{"x\.example\/y":"1"\}/);
  });

  it('lab/N4: takes away what is gone, and replaces addresses as a whole', () => {
    const existing = { ...status(), addresses: [{ type: 'InternalIP', address: '10.16.1.9' }] };
    const withNpu = status({ existing, added: { capacity: { npu: '1' } } });
    const now = status({ existing: withNpu, added: { removedResources: ['npu'] } });
    const old = { ...withNpu, addresses: existing.addresses };
    const patch = statusPatch(old, now);
    assert.deepEqual(patch['status'], {
      conditions: now.conditions,
      capacity: { npu: null },
      allocatable: { npu: null },
      addresses: [...(now.addresses ?? []), { $patch: 'replace' }],
    });
  });
});
