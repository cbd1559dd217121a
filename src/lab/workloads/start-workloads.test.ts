import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap, Namespace } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { controllerFor } from '../../kube/controller/controller.ts';
import { DONE } from '../../kube/controller/reconcile.ts';
import { TestEnv } from '../../testing/index.ts';
import { startWorkloads } from './start-workloads.ts';

const USER = 'system:serviceaccount:kube-system:counter';

/** Each life of it writes a, b and c, one after the other, into every namespace that it is told of. */
function counter() {
  let lives = 0;
  const errors: string[] = [];
  const controllers = () => {
    const life = ++lives;
    return [
      controllerFor(Namespace).reconcile({
        reconcile: async ({ metadata: { name: namespace } }, { client }) => {
          if (namespace !== 'here') return DONE;
          for (const step of ['a', 'b', 'c'])
            await client
              .create(ConfigMap, { metadata: { namespace, name: `life-${life}-${step}` } })
              .catch((error: Error) => errors.push(`${life} ${step}: ${error.message}`));
          return DONE;
        },
      }),
    ];
  };
  return { standIn: { name: 'counter', user: USER, groups: ['system:masters'], controllers }, errors };
}

/** The counter, killed when it has written `b`. */
async function killed(env: TestEnv) {
  const { standIn, errors } = counter();
  const crash: { happened?: Promise<void>; now?: () => void } = {};
  const workloads = await startWorkloads({
    standIns: [standIn],
    clock: env.clock,
    log: SILENT_LOG,
    transportAs: (user, groups) => {
      const transport = env.activity.around(env.server.client(user, groups));
      return async (request) => {
        const response = await transport(request);
        if (request.method === 'POST' && request.body?.toString().includes('life-1-b') === true) crash.now?.();
        return response;
      };
    },
  });
  crash.now = () => {
    crash.happened ??= workloads.crash(new Set([USER]));
  };
  await env.client.create(Namespace, { metadata: { name: 'here' } });
  await env.settle();
  await crash.happened;
  return { workloads, errors };
}

describe('startWorkloads', () => {
  it('lab/B3: whoever is killed in the middle writes nothing more, and another one does it all again', async () => {
    await using env = await TestEnv.start();
    const { workloads, errors } = await killed(env);
    await using _end = workloads;
    await env.advance(60_000);
    const { items } = await env.client.list(ConfigMap, { namespace: 'here' });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('life-')),
      ['life-1-a', 'life-1-b', 'life-2-a', 'life-2-b', 'life-2-c'],
    );
    assert.equal(errors.length, 2, errors.join('\n'));
    for (const error of errors) assert.match(error, /^1 [bc]: .*which was killed, is cut off from the API server/);
    assert.equal(workloads.isIdle, true);
  });

  it('lab/B3: nobody waits for the dead, though no time passes any more', async () => {
    await using env = await TestEnv.start();
    const { workloads } = await killed(env);
    await workloads[Symbol.asyncDispose]();
  });
});
