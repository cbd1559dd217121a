import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { describe, it } from 'node:test';
import { acmeDefinition } from '../../../test/support/acme-definition.ts';
import { freePort, grant, programNeeds, startProgram } from '../../../test/support/cloud-program.ts';
import { Lease } from '../../api/generated/coordination-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { TestEnv } from '../../testing/test-env.ts';

const LEASE = { namespace: 'kube-system', name: 'cloud-controller-manager' };

async function answerOf(message: IncomingMessage) {
  let text = '';
  for await (const chunk of message) text += String(chunk);
  return { status: message.statusCode ?? 0, text };
}

const fetched = (port: number, path: string): ReturnType<typeof answerOf> => {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof answerOf>>>();
  const call = { host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false };
  get(call, (message) => void answerOf(message).then(resolve, reject)).on('error', reject);
  return promise;
};

async function serving() {
  const port = await freePort();
  const open = '--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics';
  return { port, argv: [`--secure-port=${port}`, '--bind-address=127.0.0.1', open] };
}

describe('the secure port of a program', () => {
  it('ccm/P11, ccm/P9: answers before there is a leader, and tells of each controller when there is', async () => {
    await using env = await TestEnv.start();
    const definition = acmeDefinition();
    const { port, argv } = await serving();
    const renewTime = env.clock.now().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'other', leaseDurationSeconds: 15, acquireTime: renewTime, renewTime };
    await env.client.create(Lease, { metadata: LEASE, spec });
    await using _program = await startProgram(env, { definition, argv });
    await env.settle();
    assert.deepEqual(await fetched(port, '/healthz'), { status: 200, text: 'ok' });
    assert.doesNotMatch((await fetched(port, '/metrics')).text, /^running_managed_controllers\{/m);
    await env.advance(60_000);
    const { text } = await fetched(port, '/healthz?verbose');
    const names = [
      'cloud-node-controller',
      'cloud-node-lifecycle-controller',
      'leaderElection',
      'service-lb-controller',
    ];
    assert.equal(text, `${names.map((name) => `[+]${name} ok\n`).join('')}healthz check passed\n`);
    assert.equal((await fetched(port, '/readyz')).status, 200);
    assert.equal((await fetched(port, '/configz')).status, 401);
  });

  it('ccm/P12: counts the controllers that run, the requests and the process', async () => {
    await using env = await TestEnv.start();
    const definition = acmeDefinition();
    const { port, argv } = await serving();
    await using _program = await startProgram(env, { definition, argv: [...argv, '--leader-elect=false'] });
    await env.settle();
    const { text } = await fetched(port, '/metrics');
    for (const name of ['cloud-node', 'cloud-node-lifecycle', 'service']) {
      const line = `^running_managed_controllers\\{name="${name}",manager="cloud-controller-manager"\\} 1$`;
      assert.match(text, new RegExp(line, 'm'));
    }
    for (const name of ['workqueue_depth', 'process_cpu_seconds_total', 'cloud_provider_call_duration_seconds'])
      assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'), name);
    for (const queue of ['Nodes', 'service', 'node'])
      assert.match(text, new RegExp(`^workqueue_adds_total\\{name="${queue}"`, 'm'), queue);
  });

  it('ccm/B10: readiness fails with the list of permissions that are missing, until they are granted', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG, allowsForbidden: true });
    const definition = acmeDefinition();
    const { port, argv } = await serving();
    const all = programNeeds({ definition, argv });
    const granted = all.map((need) => ({ ...need, verbs: need.verbs.filter((verb) => verb !== 'delete') }));
    await using _program = await startProgram(env, { definition, argv, granted });
    await env.settle();
    const { status, text } = await fetched(port, '/readyz');
    assert.equal(status, 500);
    const missing = 'permission of this program to delete nodes in the whole cluster';
    assert.match(text, new RegExp(`^\\[-\\]${missing} failed: reason withheld$`, 'm'));
    assert.equal((await fetched(port, '/healthz')).status, 200, 'a restart would not help');
    await grant(env, 'ccm', all);
    await env.advance(20_000);
    assert.equal((await fetched(port, '/readyz')).text, 'ok');
  });

  it('ccm/P6: --port answers /healthz in the clear', async () => {
    await using env = await TestEnv.start();
    const definition = acmeDefinition();
    const port = await freePort();
    const argv = [`--port=${port}`, '--address=127.0.0.1'];
    await using program = await startProgram(env, { definition, argv });
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } });
    assert.deepEqual([answer.status, await answer.text()], [200, 'ok']);
    assert.match(program.lines[0] ?? '', /--port, --address.*Flags are deprecated/);
  });
});
