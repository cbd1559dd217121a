import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind, KubeObject, ObjectKey } from '../../api/object.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { injectTrust, trustPatch } from './trust-injection.ts';

const text = (pem: string): string => Buffer.from(pem).toString('base64');
const NEW = { bundlePem: 'new' };

const object = (more: object): KubeObject => ({
  apiVersion: 'x/v1',
  kind: 'X',
  metadata: { name: 'x', resourceVersion: '7' },
  ...more,
});

describe('the bundle of a target', () => {
  it('runtime/W6: is written where it differs, and only to the version that was read', () => {
    const webhooks = [
      { name: 'a', clientConfig: { caBundle: text('new') } },
      { name: 'b', clientConfig: { caBundle: text('old') } },
      { name: 'c', clientConfig: {} },
    ];
    assert.deepEqual(trustPatch(object({ webhooks }), NEW), [
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
      { op: 'add', path: '/webhooks/1/clientConfig/caBundle', value: text('new') },
      { op: 'add', path: '/webhooks/2/clientConfig/caBundle', value: text('new') },
    ]);
  });

  it('runtime/W6: is not written where it is there already, or where nothing is converted', () => {
    const conversion = (strategy: string, caBundle: string) =>
      object({ spec: { conversion: { strategy, webhook: { clientConfig: { caBundle: text(caBundle) } } } } });
    assert.deepEqual(trustPatch(conversion('Webhook', 'new'), NEW), []);
    assert.deepEqual(trustPatch(conversion('None', 'old'), NEW), []);
    assert.deepEqual(trustPatch(object({ webhooks: [] }), NEW), []);
    assert.equal(trustPatch(conversion('Webhook', 'old'), NEW).length, 2);
  });

  it('runtime/W6: is left alone where what it holds is enough', () => {
    const held = object({ webhooks: [{ clientConfig: { caBundle: text('next\ncurrent\nolder\n') } }] });
    assert.deepEqual(trustPatch(held, { bundlePem: 'current\n', enoughPem: 'current\n' }), []);
    assert.equal(trustPatch(held, { bundlePem: 'other\n', enoughPem: 'other\n' }).length, 2);
  });

  it('runtime/W6: targets that are not installed are left out', async () => {
    const asked: string[] = [];
    const client = {
      live: { find: async ({ plural }: Kind, { name }: ObjectKey) => void asked.push(`${plural}/${name}`) },
      patch: () => assert.fail('nothing is there to patch'),
    } as unknown as Pick<KubeClient, 'live' | 'patch'>;
    const targets = { mutating: ['m'], validating: ['v'], definitions: ['d'] };
    assert.equal(await injectTrust(client, targets, NEW), false);
    assert.deepEqual(asked, [
      'mutatingwebhookconfigurations/m',
      'validatingwebhookconfigurations/v',
      'customresourcedefinitions/d',
    ]);
  });
});
