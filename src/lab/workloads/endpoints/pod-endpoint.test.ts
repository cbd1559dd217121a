import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeAt, type PodFacts, serviceLike, servicePod } from '../../../../test/support/service-world.ts';
import type { ServicePort, ServiceSpec } from '../../../api/generated/core-v1-types.ts';
import {
  addressTypes,
  endpointPorts,
  isHeadless,
  isManaged,
  podAddresses,
  podEndpoint,
  selects,
} from './pod-endpoint.ts';

const conditionsOf = (facts: PodFacts, spec: Partial<ServiceSpec> = {}) => {
  const { ready, serving, terminating } =
    podEndpoint(serviceLike(spec), servicePod('p', facts), undefined, 'IPv4').conditions ?? {};
  return [ready, serving, terminating];
};

describe('podEndpoint', () => {
  const publishing = { publishNotReadyAddresses: true };
  for (const [what, facts, spec, [ready, serving, terminating]] of [
    ['a ready pod', {}, {}, [true, true, false]],
    ['a pod that is not ready', { isReady: false }, {}, [false, false, false]],
    ['a pod on its way out that still serves', { isLeaving: true }, {}, [false, true, true]],
    ['a pod on its way out', { isLeaving: true, isReady: false }, {}, [false, false, true]],
    ['a pod that is not ready and published', { isReady: false }, publishing, [true, false, false]],
    ['a pod on its way out that is published', { isLeaving: true }, publishing, [true, true, true]],
  ] as const) {
    it(`lab/W31: conditions of ${what}`, () => {
      assert.deepEqual(conditionsOf(facts, spec), [ready, serving, terminating]);
    });
  }

  it('lab/W31: says which pod it is, on which node and in which zone', () => {
    assert.deepEqual(podEndpoint(serviceLike(), servicePod('p'), nodeAt('n1', 'a'), 'IPv4'), {
      addresses: ['10.16.32.1'],
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: 'Pod', namespace: 'default', name: 'p', uid: 'uid-p' },
      nodeName: 'n1',
      zone: 'a',
    });
  });

  it('lab/W31: has the name that the pod wants under the service', () => {
    const named = (subdomain: string) => servicePod('p', { spec: { hostname: 'a', subdomain } });
    const hostnameOf = (subdomain: string) =>
      podEndpoint(serviceLike(), named(subdomain), undefined, 'IPv4').hostname;
    assert.deepEqual([hostnameOf('web'), hostnameOf('other')], ['a', undefined]);
  });
});

describe('podAddresses', () => {
  const both = ['10.16.32.1', 'fd00::1'];
  for (const [what, facts, four, six] of [
    ['both kinds', { ips: both }, ['10.16.32.1'], ['fd00::1']],
    ['none yet', { ip: '' }, [], []],
    ['it succeeded', { phase: 'Succeeded' }, [], []],
    ['it failed', { phase: 'Failed' }, [], []],
    ['it is pending with an address', { phase: 'Pending' }, ['10.16.32.1'], []],
  ] as const) {
    it(`lab/W31: ${what}`, () => {
      const pod = servicePod('p', facts);
      assert.deepEqual([podAddresses(pod, 'IPv4'), podAddresses(pod, 'IPv6')], [four, six]);
    });
  }

  it('lab/W31: takes the one address of a pod that lists none', () => {
    const { status, ...pod } = servicePod('p', { ip: '' });
    assert.deepEqual(podAddresses({ ...pod, status: { ...status, podIP: '10.0.0.1' } }, 'IPv4'), ['10.0.0.1']);
  });
});

describe('endpointPorts', () => {
  const pod = servicePod('p', {
    spec: {
      containers: [
        { name: 'a', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] },
        { name: 'b', ports: [{ name: 'dns', containerPort: 53, protocol: 'UDP' }, { containerPort: 9 }] },
      ],
      initContainers: [
        { name: 'init', ports: [{ name: 'early', containerPort: 1 }] },
        { name: 'sidecar', restartPolicy: 'Always', ports: [{ name: 'side', containerPort: 15001 }] },
      ],
    },
  });
  const rows: readonly [what: string, port: ServicePort, number: number | undefined][] = [
    ['a number', { port: 80, targetPort: 8080 }, 8080],
    ['none, so that of the service', { port: 80 }, 80],
    ['a name', { port: 80, targetPort: 'http' }, 8080],
    ['a name of another protocol', { port: 80, targetPort: 'dns' }, undefined],
    ['a name of its protocol', { port: 53, targetPort: 'dns', protocol: 'UDP' }, 53],
    ['a name that no container has', { port: 80, targetPort: 'nope' }, undefined],
    ['a name in a sidecar', { port: 80, targetPort: 'side' }, 15001],
    ['a name in an init container', { port: 80, targetPort: 'early' }, undefined],
  ];
  for (const [what, port, number] of rows) {
    it(`lab/W31: target port: ${what}`, () => {
      const found = endpointPorts(serviceLike({ ports: [{ name: 'x', ...port }] }), pod);
      const { protocol = 'TCP' } = port;
      assert.deepEqual(found, number === undefined ? [] : [{ name: 'x', port: number, protocol }]);
    });
  }

  it('lab/W31: says the protocol that the application speaks', () => {
    const [port] = endpointPorts(serviceLike({ ports: [{ port: 80, appProtocol: 'https' }] }), pod);
    assert.deepEqual(port, { name: '', port: 80, protocol: 'TCP', appProtocol: 'https' });
  });
});

describe('services', () => {
  it('lab/W31: are managed when they have a selector and are no name for something outside', () => {
    const managed = (spec: Partial<ServiceSpec>) => isManaged(serviceLike(spec));
    assert.deepEqual(
      [managed({}), managed({ selector: {} }), managed({ type: 'ExternalName' })],
      [true, false, false],
    );
  });

  it('lab/W31: select pods by all of their labels', () => {
    const service = serviceLike({ selector: { app: 'web', tier: 'front' } });
    const chosen = (labels: Record<string, string>) => selects(service, servicePod('p', { labels }));
    assert.deepEqual(
      [chosen({ app: 'web', tier: 'front', more: 'x' }), chosen({ app: 'web' }), chosen({})],
      [true, false, false],
    );
  });

  it('lab/W31: say which addresses they want, or show it by their own', () => {
    const { ipFamilies: _families, ...spec } = serviceLike().spec ?? {};
    const silent = (clusterIP: string) => addressTypes({ ...serviceLike(), spec: { ...spec, clusterIP } });
    assert.deepEqual(addressTypes(serviceLike({ ipFamilies: ['IPv6', 'IPv4'] })), ['IPv6', 'IPv4']);
    assert.deepEqual([silent('10.0.0.1'), silent('fd00::1'), silent('None')], [['IPv4'], ['IPv6'], ['IPv4']]);
    assert.deepEqual([isHeadless(serviceLike()), isHeadless(serviceLike({ clusterIP: 'None' }))], [false, true]);
  });
});
