import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { ValidatingWebhookConfiguration } from '../../api/generated/admissionregistration-v1.ts';
import { ConfigMap, Secret } from '../../api/generated/core-v1.ts';
import type { CreateOf } from '../../api/object.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { TestEnv } from '../../testing/test-env.ts';
import type { Addable, Manager } from '../manager/create-manager.ts';
import { createManager } from '../manager/create-manager.ts';
import type { Runnable } from '../manager/runnable.ts';
import { addWebhooks } from './add-webhooks.ts';
import { denied } from './admission-result.ts';
import { issuePair } from './certificate-state.ts';
import { webhookConfigurations } from './webhook-configurations.ts';

const NAMESPACE = 'default';
const refuseAll = (manager: Manager) =>
  addWebhooks(manager, {
    namespace: NAMESPACE,
    register: (webhooks) =>
      webhooks.validating(ConfigMap, { validateCreate: () => denied('not today'), validateUpdate: () => {} }),
  });

const managerOn = (env: TestEnv, webhook: object): Manager =>
  createManager({
    kube: env.server.client(),
    name: 'hooked',
    clock: env.clock,
    selfCheck: false,
    log: SILENT_LOG,
    ...webhook,
  });

describe('addWebhooks', () => {
  it('runtime/C8: says that a certificate is missing when nothing names one', async () => {
    await using env = await TestEnv.start();
    assert.throws(() => refuseAll(managerOn(env, {})), {
      reason: 'NoWebhookCertificate',
      message: /--webhook-cert-dir/,
    });
  });

  it('runtime/W6: serves with an authority of its own, which API servers are told to believe', async () => {
    await using env = await TestEnv.start();
    const selfSigned = { secretName: 'hooked-certificates', service: 'hooked' };
    const manager = managerOn(env, { webhook: { port: 0, host: '127.0.0.1', selfSigned } });
    const webhooks = refuseAll(manager);
    const [configuration] = webhookConfigurations(webhooks, {
      name: 'hooked',
      address: { service: { namespace: NAMESPACE, name: 'hooked' } },
      trust: 'self-managed',
    });
    await env.client.create(
      ValidatingWebhookConfiguration,
      configuration as CreateOf<ValidatingWebhookConfiguration>,
    );
    await env.client.create(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: NAMESPACE, name: selfSigned.secretName },
    });
    const stop = new AbortController();
    const running = manager.start(stop.signal);
    // Not through virtual time: keys are made in real time, and an hour would pass meanwhile on a busy machine.
    await manager.whenLeading();
    await env.settle();
    const { webhooks: stored = [] } = await env.client.get(ValidatingWebhookConfiguration, { name: 'hooked' });
    assert.match(Buffer.from(stored[0]?.clientConfig.caBundle ?? '', 'base64').toString(), /BEGIN CERTIFICATE/);
    for (const check of manager.readyz.all.values()) await check();
    stop.abort();
    await env.throughTime(running);
  });

  it('runtime/E7: looks after the Secret only while it leads', async () => {
    await using env = await TestEnv.start();
    const selfSigned = { secretName: 'hooked-certificates', service: 'hooked' };
    const key = { namespace: NAMESPACE, name: selfSigned.secretName };
    await env.client.create(Secret, { metadata: key });
    const leaderElection = { id: 'hooked', namespace: NAMESPACE };
    const manager = managerOn(env, { webhook: { selfSigned }, leaderElection });
    const parts: Addable[] = [];
    // Never elected: its fence is closed.
    refuseAll(Object.create(manager, { add: { value: (part: Addable) => parts.push(part) } }));
    const stop = new AbortController();
    const rotation = parts.find((part) => 'group' in part && part.group === 'leader') as Runnable;
    const running = rotation.run(stop.signal);
    await env.settle();
    // Keys are made in real time; two more are made after those of the rotation.
    for (let pair = 0; pair < 2; pair++)
      await issuePair({ dnsNames: ['x'], now: env.clock.now(), validityMs: 60_000 });
    await env.settle();
    stop.abort();
    await running;
    assert.equal((await env.client.get(Secret, key)).data, undefined);
  });

  it('runtime/W1: listens only on the host of the configuration, also with the usual port', async () => {
    await using env = await TestEnv.start();
    const selfSigned = { secretName: 'hooked-certificates', service: 'hooked' };
    // An address for documentation, which no machine has.
    const manager = managerOn(env, { webhook: { host: '203.0.113.1', selfSigned } });
    refuseAll(manager);
    const stop = new AbortController();
    manager.whenReady().then(
      () => stop.abort(),
      () => undefined,
    );
    await assert.rejects(manager.start(stop.signal), /203\.0\.113\.1:9443/);
  });
});
