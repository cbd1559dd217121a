import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SILENT_LOG } from '../../base/log.ts';
import { createManager, type ManagerOptions } from './create-manager.ts';

const needsOf = (options: Partial<ManagerOptions>): readonly string[] =>
  createManager({
    kube: () => Promise.reject(new Error('nobody is asked')),
    name: 'test',
    log: SILENT_LOG,
    ...options,
  }).needs.map(({ resource, namespace = '' }) => `${namespace}/${resource}`);

const REVIEWS = ['/tokenreviews', '/subjectaccessreviews'];
const bind = '127.0.0.1:0';

describe('Manager.needs', () => {
  for (const { name, metrics, isAsking } of [
    { name: 'a secure endpoint', metrics: { bind, secure: true }, isAsking: true },
    { name: 'a secure endpoint for everybody', metrics: { bind, secure: true, auth: false }, isAsking: false },
    { name: 'a plain endpoint', metrics: { bind }, isAsking: false },
    { name: 'an endpoint that is off', metrics: { bind: '0', secure: true }, isAsking: false },
  ])
    it(`runtime/B1: ${name} ${isAsking ? 'asks' : 'does not ask'} for reviews`, () => {
      const found = needsOf({ metrics }).filter((need) => REVIEWS.includes(need));
      assert.deepEqual(found, isAsking ? REVIEWS : []);
    });

  it('runtime/B5: the events of an election are allowed where its Lease is, which need not be where it works', () => {
    const leaderElection = { id: 'x', namespace: 'home' };
    assert.ok(needsOf({ leaderElection, namespaces: ['away'] }).includes('home/events'));
    assert.ok(!needsOf({ leaderElection }).includes('home/events'), 'all namespaces are allowed anyway');
    assert.ok(!needsOf({ leaderElection, namespaces: ['home'] }).includes('home/events'));
  });
});
