import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operandSuite, workloadSuite } from '../../../test/support/operator-apply-suite.ts';
import { type ApplyServer, ApplyWorld } from '../../../test/support/operator-apply-world.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';

describe('applying operands', () => {
  let api: Awaited<ReturnType<typeof startApiServer>>;
  let worlds = 0;
  before(async () => {
    api = await startApiServer({ storage: 'memory', listen: false });
  });
  after(() => api.stop());
  const open = () => {
    const server: ApplyServer = { transport: api.client(), clock: new VirtualClock() };
    return ApplyWorld.open(server, `apply-${++worlds}`);
  };
  operandSuite(open);
  workloadSuite(open);

  it('other kinds are not applied', async () => {
    const world = await open();
    const operator = world.operator();
    const object = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'x' } };
    await assert.rejects(operator.apply(object), /unhandled type apps\/v1 StatefulSet/);
    assert.deepEqual(operator.writes, []);
  });
});
