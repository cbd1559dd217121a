import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Torture } from '../support/balancer-torture.ts';
import { Backend, BalancerWorld, balancerConfig, freePort } from '../support/balancer-world.ts';

describe('load balancer of the lab', () => {
  it('lab/C15: carries 10,000 talks byte for byte, whoever ends first, while targets come and go', async () => {
    const torture = new Torture(16);
    await using world = await BalancerWorld.start();
    await using first = await Backend.listen(torture.server(), { host: '127.9.14.1', port: 0 });
    const hosts = ['127.9.14.2', '127.9.14.3'];
    await using others = new AsyncDisposableStack();
    for (const host of hosts) others.use(await Backend.listen(torture.server(), { host, port: first.port }));
    const at = { host: '127.9.138.1', port: await freePort('127.9.138.1') };
    const config = balancerConfig({
      address: '10.9.138.1',
      listeners: [{ port: at.port, targetPort: first.port }],
      targets: ['10.9.14.1', '10.9.14.2', '10.9.14.3'],
    });
    await world.applyAndCheck('lb', config);
    let isOver = false;
    // Connections of targets that go are drained; time stands still, so none is cut.
    const churn = async () => {
      for (let round = 0; !isOver; round++) {
        const targets = round % 2 === 0 ? ['10.9.14.1', '10.9.14.2'] : config.targets;
        await world.balancers.apply('lb', { ...config, targets });
        await world.settle();
      }
    };
    const churning = churn();
    const problems = await torture.run(at, 10_000, 100);
    isOver = true;
    await churning;
    assert.deepEqual(problems, []);
  });
});
