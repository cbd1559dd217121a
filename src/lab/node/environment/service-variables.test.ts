import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Service, ServiceSpec } from '../../../api/generated/core-v1-types.ts';
import { serviceVariables } from './service-variables.ts';

const service = (name: string, spec: ServiceSpec): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop' },
  spec,
});

describe('serviceVariables', () => {
  it('lab/N24: names host, ports and links of a service', () => {
    const ports = [
      { name: 'web-ui', port: 8081 },
      { name: 'dns', port: 53, protocol: 'UDP' as const },
    ];
    assert.deepEqual(
      Object.fromEntries(serviceVariables([service('red-shop', { clusterIP: '10.16.96.1', ports })])),
      {
        RED_SHOP_SERVICE_HOST: '10.16.96.1',
        RED_SHOP_SERVICE_PORT: '8081',
        RED_SHOP_SERVICE_PORT_WEB_UI: '8081',
        RED_SHOP_SERVICE_PORT_DNS: '53',
        RED_SHOP_PORT: 'tcp://10.16.96.1:8081',
        RED_SHOP_PORT_8081_TCP: 'tcp://10.16.96.1:8081',
        RED_SHOP_PORT_8081_TCP_PROTO: 'tcp',
        RED_SHOP_PORT_8081_TCP_PORT: '8081',
        RED_SHOP_PORT_8081_TCP_ADDR: '10.16.96.1',
        RED_SHOP_PORT_53_UDP: 'udp://10.16.96.1:53',
        RED_SHOP_PORT_53_UDP_PROTO: 'udp',
        RED_SHOP_PORT_53_UDP_PORT: '53',
        RED_SHOP_PORT_53_UDP_ADDR: '10.16.96.1',
      },
    );
  });

  it('lab/N24: writes an address of version 6 in brackets where a port follows', () => {
    const found = Object.fromEntries(
      serviceVariables([service('six', { clusterIP: 'fd00::1', ports: [{ port: 80 }] })]),
    );
    assert.equal(found['SIX_SERVICE_HOST'], 'fd00::1');
    assert.equal(found['SIX_PORT'], 'tcp://[fd00::1]:80');
    assert.equal(found['SIX_SERVICE_PORT_'], undefined);
  });

  const silent: readonly (readonly [string, ServiceSpec])[] = [
    ['without an address', { ports: [{ port: 80 }] }],
    ['with an empty address', { clusterIP: '', ports: [{ port: 80 }] }],
    ['that is headless', { clusterIP: 'None', ports: [{ port: 80 }] }],
    ['without ports', { clusterIP: '10.16.96.1' }],
  ];
  for (const [what, spec] of silent) {
    it(`lab/N24: has nothing to say of a service ${what}`, () => {
      assert.deepEqual(serviceVariables([service('quiet', spec)]), []);
    });
  }
});
