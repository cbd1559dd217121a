import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { podField } from './pod-fields.ts';

const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u-1',
    labels: { app: 'web', 'example.com/tier': 'front' },
    annotations: { "it's": 'odd' },
  },
  spec: { containers: [], nodeName: 'w-1', serviceAccountName: 'seller' },
};
const ADDRESSES = { hostIPs: ['10.16.1.1', 'fd00::1'], podIPs: ['10.16.32.5', 'fd00::5'] };

const ROWS: readonly (readonly [path: string, value: string | undefined])[] = [
  ['metadata.name', 'web'],
  ['metadata.namespace', 'shop'],
  ['metadata.uid', 'u-1'],
  ["metadata.labels['app']", 'web'],
  ["metadata.labels['example.com/tier']", 'front'],
  ["metadata.labels['none']", ''],
  ["metadata.labels['constructor']", ''],
  ["metadata.annotations['it's']", 'odd'],
  ['spec.nodeName', 'w-1'],
  ['spec.serviceAccountName', 'seller'],
  ['status.hostIP', '10.16.1.1'],
  ['status.hostIPs', '10.16.1.1,fd00::1'],
  ['status.podIP', '10.16.32.5'],
  ['status.podIPs', '10.16.32.5,fd00::5'],
  ['status.phase', undefined],
  ['metadata.labels[app]', undefined],
  ['', undefined],
];

describe('podField', () => {
  for (const [path, value] of ROWS) {
    it(`lab/N25: reads ${path === '' ? 'nothing' : path} as ${JSON.stringify(value)}`, () => {
      assert.equal(podField(POD, path, ADDRESSES), value);
    });
  }

  it('lab/N25: is empty for what is not known yet', () => {
    const bare: Pod = { ...POD, metadata: { name: 'web' }, spec: { containers: [] } };
    const none = { hostIPs: [], podIPs: [] };
    for (const path of ['metadata.namespace', 'metadata.uid', 'spec.nodeName', 'status.podIP', 'status.hostIPs']) {
      assert.equal(podField(bare, path, none), '');
    }
  });
});
