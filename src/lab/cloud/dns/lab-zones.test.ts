import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Service, ServiceSpec } from '../../../api/generated/core-v1-types.ts';
import type { Endpoint, EndpointSlice } from '../../../api/generated/discovery-v1-types.ts';
import { clusterZone } from './cluster-zone.ts';
import { type AskedType, lookup } from './lookup.ts';
import { serviceZone } from './service-zone.ts';
import type { Zone } from './zone.ts';

const service = (name: string, spec: ServiceSpec): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop' },
  spec,
});

const ports = [
  { name: 'http', port: 80 },
  { name: 'dns', port: 53, protocol: 'UDP' as const },
];
const services = new Map(
  [
    service('web', { clusterIP: '10.16.96.1', clusterIPs: ['10.16.96.1', 'fd00::96'], ports }),
    service('old', { clusterIP: '10.16.96.2', ports: [{ port: 80 }] }),
    service('db', { clusterIP: 'None', ports: [{ name: 'sql', port: 5432 }] }),
    service('seeds', { clusterIP: 'None', publishNotReadyAddresses: true, ports: [{ name: 'sql', port: 5432 }] }),
    service('empty', { clusterIP: 'None', ports: [{ name: 'sql', port: 5432 }] }),
    service('outside', { type: 'ExternalName', externalName: 'db.example.test' }),
  ].map((entry) => [entry.metadata.name ?? '', entry]),
);

const endpoints: readonly Endpoint[] = [
  { addresses: ['10.16.32.1'], hostname: 'db-0', conditions: { ready: true } },
  { addresses: ['10.16.32.2'] },
  { addresses: ['10.16.32.3'], conditions: { ready: false } },
];
const slice: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'db-1', namespace: 'shop' },
  addressType: 'IPv4',
  endpoints,
  ports: [{ name: 'sql', port: 15432 }],
};

const serviceNames = serviceZone({
  hasNamespace: (namespace) => namespace === 'shop',
  service: (namespace, name) => (namespace === 'shop' ? services.get(name) : undefined),
  slices: (_, name) => (name === 'db' || name === 'seeds' ? [slice] : []),
});

/** The values, or the code when there are none. */
function told(zone: Zone, name: string, type: AskedType): string {
  const reply = lookup([zone], { name, type });
  const values = reply?.answers.flatMap((set) => set.values) ?? [];
  return values.length > 0 ? values.join(', ') : (reply?.rcode ?? 'not ours');
}

const rows: readonly {
  readonly it: string;
  readonly name: string;
  readonly type: AskedType;
  readonly want: string;
}[] = [
  { it: 'a Service by its address', name: 'web.shop', type: 'A', want: '10.16.96.1' },
  { it: 'a Service by its second address', name: 'web.shop', type: 'AAAA', want: 'fd00::96' },
  {
    it: 'a port of a Service',
    name: '_http._tcp.web.shop',
    type: 'SRV',
    want: '0 100 80 web.shop.svc.cluster.local',
  },
  {
    it: 'a UDP port of a Service',
    name: '_dns._udp.web.shop',
    type: 'SRV',
    want: '0 100 53 web.shop.svc.cluster.local',
  },
  { it: 'no port under another protocol', name: '_dns._tcp.web.shop', type: 'SRV', want: 'NXDOMAIN' },
  { it: 'a protocol with ports as a name without data', name: '_tcp.web.shop', type: 'A', want: 'NOERROR' },
  { it: 'no protocol without named ports', name: '_tcp.old.shop', type: 'A', want: 'NXDOMAIN' },
  { it: 'nothing below a Service with an address', name: 'db-0.web.shop', type: 'A', want: 'NXDOMAIN' },
  { it: 'ready endpoints of a headless Service', name: 'db.shop', type: 'A', want: '10.16.32.1, 10.16.32.2' },
  {
    it: 'all endpoints where the Service shows all',
    name: 'seeds.shop',
    type: 'A',
    want: '10.16.32.1, 10.16.32.2, 10.16.32.3',
  },
  { it: 'an endpoint by its host name', name: 'db-0.db.shop', type: 'A', want: '10.16.32.1' },
  { it: 'an endpoint by its address', name: '10-16-32-2.db.shop', type: 'A', want: '10.16.32.2' },
  { it: 'no endpoint that is not there', name: 'db-9.db.shop', type: 'A', want: 'NXDOMAIN' },
  {
    it: 'ports of endpoints',
    name: '_sql._tcp.db.shop',
    type: 'SRV',
    want: '0 100 15432 db-0.db.shop.svc.cluster.local, 0 100 15432 10-16-32-2.db.shop.svc.cluster.local',
  },
  {
    it: 'a headless Service without endpoints as a name without data',
    name: 'empty.shop',
    type: 'A',
    want: 'NOERROR',
  },
  { it: 'no ports of no endpoints', name: '_sql._tcp.empty.shop', type: 'SRV', want: 'NOERROR' },
  { it: 'an external name as an alias', name: 'outside.shop', type: 'A', want: 'db.example.test' },
  { it: 'a namespace as a name without data', name: 'shop', type: 'A', want: 'NOERROR' },
  { it: 'no unknown Service', name: 'nothing.shop', type: 'A', want: 'NXDOMAIN' },
  { it: 'no unknown namespace', name: 'web.nowhere', type: 'A', want: 'NXDOMAIN' },
  { it: 'nothing too far below', name: 'a.b.c.db.shop', type: 'A', want: 'NXDOMAIN' },
];

describe('zones of the lab', () => {
  for (const { it: sentence, name, type, want } of rows)
    it(`lab/C27: svc.cluster.local knows ${sentence}`, () => {
      assert.equal(told(serviceNames, `${name}.svc.cluster.local`, type), want);
    });

  it('lab/C27: svc.cluster.local has an apex', () => {
    assert.match(told(serviceNames, 'svc.cluster.local', 'SOA'), /^ns\.lab\.internal /);
    assert.equal(told(serviceNames, 'cluster.local', 'A'), 'not ours');
  });

  it('lab/C27: a cluster has its fixed names', () => {
    const zone = clusterZone({
      domain: 'c1.lab.test',
      api: ['10.16.1.254'],
      apiInternal: ['10.16.1.254'],
      apps: ['10.16.128.1'],
    });
    assert.equal(told(zone, 'api.c1.lab.test', 'A'), '10.16.1.254');
    assert.equal(told(zone, 'api-int.c1.lab.test', 'A'), '10.16.1.254');
    assert.equal(told(zone, 'console.apps.c1.lab.test', 'A'), '10.16.128.1');
    assert.equal(told(zone, 'a.b.apps.c1.lab.test', 'A'), '10.16.128.1');
    assert.equal(told(zone, 'www.c1.lab.test', 'A'), 'NXDOMAIN');
  });

  it('lab/C27: a cluster without a way in has no such name', () => {
    const zone = clusterZone({ domain: 'c1.lab.test', api: ['10.16.1.254'], apiInternal: [], apps: [] });
    assert.equal(told(zone, 'x.apps.c1.lab.test', 'A'), 'NXDOMAIN');
    assert.equal(told(zone, 'api-int.c1.lab.test', 'A'), 'NXDOMAIN');
  });
});
