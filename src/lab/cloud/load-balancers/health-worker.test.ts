import assert from 'node:assert/strict';
import { it } from 'node:test';
import { VirtualClock } from '../../../base/clock.ts';
import { HealthWorker, type HealthWorkerOptions } from './health-worker.ts';

const settings = {
  protocol: 'tcp' as const,
  path: '/',
  intervalSeconds: 5,
  timeoutSeconds: 2,
  healthyThreshold: 1,
  unhealthyThreshold: 1,
};
const NO_HOLD: Disposable = { [Symbol.dispose]: () => undefined };

it('lab/C15: a check that was under way when the configuration changed does not count for the new one', async () => {
  const clock = new VirtualClock();
  const [old, fresh] = [Promise.withResolvers<undefined>(), Promise.withResolvers<string>()];
  const aborted: string[] = [];
  let checks = 0;
  const optionsOf = (identity: string, result: Promise<string | undefined>): HealthWorkerOptions => ({
    clock,
    hold: () => NO_HOLD,
    settings,
    identity,
    check: (signal) => {
      checks++;
      signal.addEventListener('abort', () => aborted.push(identity));
      return result;
    },
  });
  using worker = new HealthWorker(optionsOf('old', old.promise));
  worker.start();
  worker.configure(optionsOf('new', fresh.promise));
  assert.deepEqual([checks, aborted], [2, ['old']], 'the new configuration is checked at once');
  old.resolve(undefined);
  await clock.advance(0);
  assert.equal(worker.track.isHealthy, false);
  assert.equal(worker.track.problem, 'not checked yet');
  fresh.resolve('nobody there');
  await clock.advance(0);
  assert.equal(worker.track.problem, 'nobody there');
  await clock.advance(5000);
  assert.equal(checks, 3, 'one round goes on, not two');
});
