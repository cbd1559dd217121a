import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { WriteLog } from './write-log.ts';

const served = { user: 'jane', method: 'POST', path: '/api/v1/namespaces/a/pods', isDryRun: false, code: 201 };

describe('WriteLog', () => {
  it('keeps what changed something, and tells of it', () => {
    const log = new WriteLog(new VirtualClock());
    const told: string[] = [];
    using _listener = log.subscribe(({ user, path }) => told.push(`${user} ${path}`));
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    for (const other of [{ method: 'GET' }, { method: 'HEAD' }, { isDryRun: true }, { code: 409 }, { path }])
      log.record('lab', { ...served, ...other });
    const { mark } = log;
    log.record('lab', served);
    assert.deepEqual([mark, log.mark, told], [0, 1, ['jane /api/v1/namespaces/a/pods']]);
    const { isDryRun: _, code: __, ...kept } = served;
    assert.deepEqual(log.since(mark), [{ cluster: 'lab', ...kept, at: new Date(0) }]);
  });

  it('lab/B3: knows the pod whose token was used', () => {
    const log = new WriteLog(new VirtualClock());
    const extra = {
      'authentication.kubernetes.io/pod-name': ['web-1'],
      'authentication.kubernetes.io/pod-uid': ['u-1'],
    };
    log.record('lab', { ...served, user: 'system:serviceaccount:a:web', extra });
    log.record('lab', { ...served, user: 'jane', extra });
    assert.deepEqual(
      log.since(0).map(({ pod }) => pod),
      [{ namespace: 'a', name: 'web-1', uid: 'u-1' }, undefined],
    );
  });

  it('lab/B3b: takes heartbeats and tokens for no change', async () => {
    const clock = new VirtualClock();
    const log = new WriteLog(clock);
    const changes = async (path: string, more: Partial<typeof served> = {}) => {
      const before = log.lastChangeMs;
      await clock.advance(1000);
      log.record('lab', { ...served, ...more, path });
      return log.lastChangeMs !== before;
    };
    for (const path of [
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/w-1',
      '/api/v1/nodes/w-1/status',
      '/api/v1/namespaces/a/serviceaccounts/default/token',
    ])
      assert.equal(await changes(path), false, path);
    const expiry = { user: 'system:apiserver', method: 'DELETE' };
    assert.equal(await changes('/api/v1/namespaces/a/events/x', expiry), false, 'an event that is over');
    for (const path of ['/api/v1/nodes/w-1', '/api/v1/namespaces/a/pods/p/status', '/api/v1/namespaces/a/events'])
      assert.equal(await changes(path), true, path);
    assert.equal(log.lastChangeMs, clock.monotonicMs());
  });
});
