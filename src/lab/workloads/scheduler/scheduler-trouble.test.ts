import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addPod } from '../../../../test/support/pretend-cluster.ts';
import { PretendStorage, podUsing } from '../../../../test/support/scheduler-storage.ts';
import { SchedulerWorld } from '../../../../test/support/scheduler-world.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { createLog, SILENT_LOG } from '../../../base/log.ts';
import type { TransportRequest } from '../../../kube/transport/transport.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import type { Fault } from '../../../testing/faults.ts';
import { schedulerController } from './controller.ts';

const key = { namespace: 'default', name: 'p' };
const isBinding = ({ target }: TransportRequest): boolean => target.includes('/binding');
const quiet = { log: SILENT_LOG };

describe('a scheduler in trouble', () => {
  it('lab/K7: tries again when the server refuses a binding, and says so meanwhile', async () => {
    await using world = await SchedulerWorld.start([{}], quiet);
    const fault: Fault = { kind: 'refuse', status: 422, reason: 'Invalid' };
    world.env.faults.arm({ matches: isBinding, fault, times: 1 });
    await world.create({});
    const { status, reason, message = '' } = (await world.condition()) ?? {};
    assert.deepEqual([status, reason], ['False', 'SchedulerError']);
    assert.match(message, /^running Bind plugin "DefaultBinder": /);
    assert.deepEqual(
      (await world.events()).map((event) => event.note),
      [message],
    );
    await world.env.advance(1000);
    assert.equal(await world.nodeOf(), 'n1');
  });

  it('lab/K5: gives the room of a refused binding to another pod', async () => {
    await using world = await SchedulerWorld.prepare([{ allocatable: { pods: '1' } }], quiet);
    const fault: Fault = { kind: 'refuse', status: 403, reason: 'Forbidden' };
    const isOfFirst = (request: TransportRequest) => request.target.includes('/first/binding');
    world.env.faults.arm({ matches: isOfFirst, fault });
    await world.create({ name: 'first' }, { name: 'second' });
    await world.run();
    assert.match(await world.message('second'), /1 Too many pods\./);
    await world.env.advance(1000);
    assert.deepEqual(await world.nodesOf('first', 'second'), [undefined, 'n1']);
  });

  const LATER: readonly Fault[] = [
    { kind: 'refuse', status: 409, reason: 'Conflict' },
    { kind: 'refuse', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 },
    { kind: 'refuse', status: 500, reason: 'InternalError' },
    { kind: 'reset' },
    { kind: 'lost-response' },
    { kind: 'duplicate' },
  ];
  for (const fault of LATER) {
    const what = fault.kind === 'refuse' ? `a ${fault.status}` : `a ${fault.kind}`;
    it(`lab/K1: binds once and says so once after ${what}`, async () => {
      await using world = await SchedulerWorld.start([{ name: 'n1' }, { name: 'n2' }], quiet);
      world.env.faults.arm({ matches: isBinding, fault, times: 1 });
      await world.create({});
      await world.env.advance(60_000);
      assert.equal(await world.nodeOf(), 'n1');
      assert.deepEqual(
        (await world.events()).map((event) => event.reason),
        ['Scheduled'],
      );
    });
  }

  it('lab/K5: holds the room of a pod as long as nobody knows what became of its binding', async () => {
    await using world = await SchedulerWorld.start([{ allocatable: { pods: '1' } }], quiet);
    world.env.faults.arm({ matches: isBinding, fault: { kind: 'lost-response' }, times: 1 });
    const isRead = ({ method, isStream }: TransportRequest) => method === 'GET' && isStream !== true;
    using _blind = world.env.faults.arm({ matches: isRead, fault: { kind: 'reset' } });
    await world.create({ name: 'first' }, { name: 'second' });
    await world.env.advance(30_000);
    assert.deepEqual(await world.nodesOf('first', 'second'), ['n1', undefined]);
    assert.match(await world.message('second'), /1 Too many pods\./);
  });

  it('lab/K1: does not take a pod for another of the same name', async () => {
    await using world = await SchedulerWorld.start();
    const storage = new PretendStorage(world.client);
    await storage.addClass('slow', 'WaitForFirstConsumer');
    await storage.addClaim('data', 'slow');
    await world.create(podUsing('p', 'data'));
    await world.client.delete(Pod, key);
    await addPod(world.client, { spec: { nodeSelector: { no: 'node' } } });
    await storage.provision('data');
    await world.env.settle();
    assert.equal(await world.nodeOf(), undefined);
    assert.match(await world.message(), /1 node\(s\) didn't match Pod's node affinity\/selector\./);
  });

  it('lab/K7: comes to the same after a restart, and tells nobody twice', async () => {
    await using world = await SchedulerWorld.start();
    await world.create({ requests: { cpu: '3' } }, { name: 'q', requests: { cpu: '2' } });
    const told = await world.events();
    const writes = world.writes.length;
    const second = await world.env.startManager({ name: 'second', add: [schedulerController()] });
    assert.ok(second.isIdle);
    assert.equal(world.writes.length, writes);
    assert.deepEqual(await world.events(), told);
  });

  it('lab/K4: names the taints behind a message in its log, once', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => new Date(0) });
    const taints = [{ key: 'example.com/gpu', value: 'yes', effect: 'NoSchedule' }] as const;
    await using world = await SchedulerWorld.start([{ taints }], { log });
    await world.create({});
    await world.env.advance(20 * 60_000);
    assert.match(await world.message(), /: 1 node\(s\) had untolerated taint\(s\)\. /);
    const found = lines.filter((line) => line.includes('example.com/gpu:NoSchedule'));
    assert.equal(found.length, 1);
  });

  it('needs exactly what it declares', async () => {
    await using world = await SchedulerWorld.start();
    const storage = new PretendStorage(world.client);
    await storage.addClass('slow', 'WaitForFirstConsumer');
    await storage.addClaim('data', 'slow');
    await world.create(podUsing('p', 'data'), { name: 'q', requests: { cpu: '9' } });
    await storage.provision('data');
    await world.env.settle();
    assert.deepEqual(await world.nodesOf('p', 'q'), ['n1', undefined]);
    expectExactRbac(world.env);
  });
});
