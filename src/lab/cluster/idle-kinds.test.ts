import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idleNotices } from './idle-kinds.ts';

describe('idleNotices', () => {
  it('warns of kinds without a controller, unless the real one may be there', () => {
    const kinds = ['apps/statefulsets', 'batch/cronjobs', 'autoscaling/horizontalpodautoscalers'];
    assert.deepEqual(Object.keys(idleNotices({})), kinds);
    assert.deepEqual(Object.keys(idleNotices({ scheduler: 'off' })), kinds);
    assert.deepEqual(idleNotices({ deployment: 'off' }), {});
    assert.match(
      idleNotices({})['batch/cronjobs'] ?? '',
      /^the lab has no controller for CronJobs: the object is kept/,
    );
  });
});
