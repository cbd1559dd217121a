import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serviceLike } from '../../../test/support/service-world.ts';
import type { Service, ServicePort, ServiceSpec } from '../../api/generated/core-v1-types.ts';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../api/generated/discovery-v1-types.ts';
import { healthChecks, type ProxyNode, placeOf, serviceFrontends, usableBackends } from './service-frontends.ts';

const node = (name: string, last: number): ProxyNode => ({
  name,
  address: { api: `10.16.1.${last}`, wire: `127.16.1.${last}` },
});
const NODES = [node('n1', 1), node('n2', 2)];

type Conditions = NonNullable<Endpoint['conditions']>;
const endpoint = (last: number, nodeName = 'n1', conditions: Conditions = { ready: true }): Endpoint => ({
  addresses: [`10.16.32.${last}`],
  nodeName,
  conditions,
});
const LEAVING: Conditions = { ready: false, serving: true, terminating: true };
const BROKEN: Conditions = { ready: false, serving: false, terminating: true };

const HTTP: EndpointPort = { name: 'http', port: 8080, protocol: 'TCP' };
const slice = (
  endpoints: readonly Endpoint[],
  fields: { ports?: readonly EndpointPort[]; service?: string; addressType?: EndpointSlice['addressType'] } = {},
): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'default', name: 's', labels: { 'kubernetes.io/service-name': fields.service ?? 'web' } },
  addressType: fields.addressType ?? 'IPv4',
  ports: fields.ports ?? [HTTP],
  endpoints,
});

const frontends = (service: Service, ...slices: readonly EndpointSlice[]) =>
  serviceFrontends({ services: [service], slices, nodes: NODES });
const places = (service: Service, ...slices: readonly EndpointSlice[]) =>
  frontends(service, ...slices).map(placeOf);
const hostsOf = (service: Service, endpoints: readonly Endpoint[], from?: string) => {
  const [first] = frontends(service, slice(endpoints));
  return first === undefined ? [] : usableBackends(first, from).map(({ host }) => host);
};

const port = (fields: Partial<ServicePort> = {}): ServicePort => ({
  name: 'http',
  port: 80,
  protocol: 'TCP',
  ...fields,
});
const nodePorted: Partial<ServiceSpec> = { type: 'NodePort', ports: [port({ nodePort: 30080 })] };

describe('serviceFrontends', () => {
  it('lab/X11: listens at the address of the service, for each port', () => {
    const ports = [port(), port({ name: 'more', port: 81 }), port({ name: 'dns', port: 53, protocol: 'UDP' })];
    const at = [HTTP, { name: 'more', port: 9090 }, { name: 'dns', port: 5353, protocol: 'UDP' as const }];
    assert.deepEqual(places(serviceLike({ ports }), slice([endpoint(1)], { ports: at })), [
      'TCP 10.16.96.10:80',
      'TCP 10.16.96.10:81',
      'UDP 10.16.96.10:53',
    ]);
  });

  it('lab/X11: listens at the port of every node', () => {
    assert.deepEqual(places(serviceLike(nodePorted), slice([endpoint(1)])), [
      'TCP 10.16.96.10:80',
      'TCP 10.16.1.1:30080',
      'TCP 10.16.1.2:30080',
    ]);
  });

  it('lab/X11: leads to the port of the pods, wherever they are listed', () => {
    const [first] = frontends(
      serviceLike(),
      slice([endpoint(2)], { ports: [{ ...HTTP, port: 9090 }] }),
      slice([endpoint(1)]),
      slice([endpoint(1)]),
      slice([endpoint(9)], { service: 'other' }),
      slice([endpoint(8)], { ports: [{ ...HTTP, name: 'other' }] }),
      slice([endpoint(7)], { addressType: 'FQDN' }),
    );
    assert.deepEqual(
      first?.backends.map(({ host, port: number }) => `${host}:${number}`),
      ['10.16.32.1:8080', '10.16.32.2:9090'],
    );
  });

  for (const [what, service, endpoints] of [
    ['nobody serves', serviceLike(nodePorted), []],
    ['nobody is ready for', serviceLike(nodePorted), [endpoint(1, 'n1', { ready: false, serving: false })]],
    ['only those serve who are on their way out and broken', serviceLike(nodePorted), [endpoint(1, 'n1', BROKEN)]],
    ['are headless', serviceLike({ clusterIP: 'None' }), [endpoint(1)]],
    ['are names for something outside', serviceLike({ type: 'ExternalName' }), [endpoint(1)]],
    ['are for another proxy', serviceLike({}, { 'service.kubernetes.io/service-proxy-name': 'x' }), [endpoint(1)]],
    ['speak SCTP', serviceLike({ ports: [port({ protocol: 'SCTP' })] }), [endpoint(1)]],
  ] as const) {
    it(`lab/X11: does not listen for services that ${what}`, () => {
      assert.deepEqual(places(service, slice(endpoints)), []);
    });
  }

  it('lab/X11: takes an endpoint of which nobody says anything for ready', () => {
    assert.deepEqual(hostsOf(serviceLike(), [endpoint(1, 'n1', {})]), ['10.16.32.1']);
  });

  it('lab/X11: takes those that are ready, else those on their way out that still serve', () => {
    const all = [endpoint(1, 'n1', LEAVING), endpoint(2), endpoint(3, 'n1', BROKEN), endpoint(4, 'n2', LEAVING)];
    assert.deepEqual(hostsOf(serviceLike(), all), ['10.16.32.2']);
    assert.deepEqual(hostsOf(serviceLike(), all.toSpliced(1, 1)), ['10.16.32.1', '10.16.32.4']);
  });

  it('lab/X11: internalTrafficPolicy Local: only those on the node of the client', () => {
    const local = serviceLike({ internalTrafficPolicy: 'Local' });
    const all = [endpoint(1, 'n1'), endpoint(2, 'n2'), endpoint(3, 'n1', LEAVING), endpoint(4, 'n3', LEAVING)];
    assert.deepEqual(hostsOf(local, all, 'n1'), ['10.16.32.1']);
    assert.deepEqual(hostsOf(local, all, 'n3'), ['10.16.32.4']);
    assert.deepEqual(hostsOf(local, all, 'n4'), []);
    assert.deepEqual(hostsOf(local, all), ['10.16.32.1', '10.16.32.2'], 'from outside of all nodes');
    assert.deepEqual(hostsOf(serviceLike(), all, 'n4'), ['10.16.32.1', '10.16.32.2']);
  });

  it('lab/X11: externalTrafficPolicy Local: only nodes that have one listen', () => {
    const local = serviceLike({ ...nodePorted, externalTrafficPolicy: 'Local' });
    assert.deepEqual(places(local, slice([endpoint(1, 'n2')])), ['TCP 10.16.96.10:80', 'TCP 10.16.1.2:30080']);
    assert.deepEqual(places(local, slice([endpoint(1, 'n1', LEAVING), endpoint(2, 'n2')])), [
      'TCP 10.16.96.10:80',
      'TCP 10.16.1.1:30080',
      'TCP 10.16.1.2:30080',
    ]);
  });

  it('lab/X11: sessionAffinity ClientIP: three hours unless told otherwise', () => {
    const seconds = (spec: Partial<ServiceSpec>) =>
      frontends(serviceLike(spec), slice([endpoint(1)]))[0]?.affinitySeconds;
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 60 } };
    assert.deepEqual(
      [
        seconds({}),
        seconds({ sessionAffinity: 'None', sessionAffinityConfig }),
        seconds({ sessionAffinity: 'ClientIP' }),
        seconds({ sessionAffinity: 'ClientIP', sessionAffinityConfig }),
      ],
      [0, 0, 10_800, 60],
    );
  });
});

describe('healthChecks', () => {
  const balanced = (spec: Partial<ServiceSpec> = {}) =>
    serviceLike({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000, ...spec });
  const checks = (service: Service, endpoints: readonly Endpoint[]) =>
    healthChecks({ services: [service], slices: [slice(endpoints)], nodes: NODES }).map(
      ({ at, localEndpoints }) => `${at.host}:${at.port} ${localEndpoints}`,
    );

  it('lab/X11: count the ready endpoints of each node', () => {
    const endpoints = [endpoint(1), endpoint(2), endpoint(3, 'n1', LEAVING), endpoint(4, 'n3')];
    assert.deepEqual(checks(balanced(), endpoints), ['10.16.1.1:32000 2', '10.16.1.2:32000 0']);
  });

  it('lab/X11: are for services that want only local endpoints of a load balancer', () => {
    for (const spec of [
      { externalTrafficPolicy: 'Cluster' },
      { type: 'NodePort' },
      { healthCheckNodePort: 0 },
    ] as const)
      assert.deepEqual(checks(balanced(spec), [endpoint(1)]), []);
  });
});
