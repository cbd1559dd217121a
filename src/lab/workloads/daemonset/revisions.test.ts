import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonPodOn, daemonSet } from '../../../../test/support/lab-daemons.ts';
import type { ControllerRevision, DaemonSet } from '../../../api/generated/apps-v1-types.ts';
import { expiredRevisions, hashOf, historyOf, isRevisionOf, newRevision } from './revisions.ts';

const imageOf = (image: string): DaemonSet => daemonSet({ spec: { containers: [{ name: 'a', image }] } });

const stored = (set: DaemonSet, revision: number): ControllerRevision => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  ...newRevision(set, revision),
});

describe('revisions of a daemon set', () => {
  it('lab/W22: are named after the set and the hash of its template, and owned by the set', () => {
    const { metadata, revision } = newRevision(daemonSet(), 4);
    const hash = metadata.labels?.['controller-revision-hash'] ?? '';
    assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
    assert.equal(metadata.name, `agent-${hash}`);
    assert.equal(metadata.labels?.['app'], 'agent');
    assert.equal(metadata.ownerReferences?.[0]?.uid, 'uid-agent');
    assert.equal(revision, 4);
  });

  it('lab/W22: hold a patch that brings the template back', () => {
    const { spec } = daemonSet();
    assert.deepEqual(newRevision(daemonSet(), 1).data, {
      spec: { template: { ...spec.template, $patch: 'replace' } },
    });
  });

  it('lab/W22: cut the name of the set where it is too long', () => {
    const set = daemonSet();
    const { name } = newRevision({ ...set, metadata: { ...set.metadata, name: 'a'.repeat(250) } }, 1).metadata;
    assert.match(name, /^a{223}-[a-z0-9]{1,10}$/);
  });

  it('lab/W22: get another name after a collision', () => {
    const set = daemonSet();
    const status = { collisionCount: 1, currentNumberScheduled: 0, desiredNumberScheduled: 0 };
    const collided = { ...set, status: { ...status, numberMisscheduled: 0, numberReady: 0 } };
    assert.notEqual(newRevision(set, 1).metadata.name, newRevision(collided, 1).metadata.name);
  });

  it('lab/W22: are recognised by their template, whatever the order of its keys', () => {
    const revision = stored(imageOf('a:1'), 1);
    assert.equal(isRevisionOf(revision, imageOf('a:1')), true);
    assert.equal(isRevisionOf(revision, imageOf('a:2')), false);
    const { template } = imageOf('a:1').spec;
    const turned = { $patch: 'replace', spec: template.spec, metadata: template.metadata };
    assert.equal(isRevisionOf({ ...revision, data: { spec: { template: turned } } }, imageOf('a:1')), true);
    const { data: _, ...empty } = revision;
    assert.equal(isRevisionOf(empty, imageOf('a:1')), false);
  });

  it('lab/W22: a new template gets the next number', () => {
    const all = [stored(imageOf('a:2'), 5), stored(imageOf('a:1'), 3)];
    const { current, old, revision } = historyOf(imageOf('a:3'), all);
    assert.deepEqual([current, old.map((one) => one.revision), revision], [[], [3, 5], 6]);
  });

  it('lab/W22: an old template becomes the newest again, and of two equal ones the later stays', () => {
    const all = [stored(imageOf('a:1'), 2), stored(imageOf('a:2'), 3), stored(imageOf('a:1'), 1)];
    const { current, revision } = historyOf(imageOf('a:1'), all);
    assert.deepEqual([current.map((one) => one.revision), revision], [[2, 1], 4]);
    assert.equal(historyOf(imageOf('a:1'), []).revision, 1);
  });

  it('lab/W22: beyond the limit go, the oldest first, unless a pod still has them', () => {
    const old = [1, 2, 3, 4].map((revision) => stored(imageOf(`a:${revision}`), revision));
    const set = { ...daemonSet(), spec: { ...daemonSet().spec, revisionHistoryLimit: 2 } };
    const numbers = (pods: Parameters<typeof expiredRevisions>[2]) =>
      expiredRevisions(set, old, pods).map(({ revision }) => revision);
    assert.deepEqual(numbers([]), [1, 2]);
    const [first] = old;
    assert.ok(first);
    assert.deepEqual(numbers([daemonPodOn('n1', { hash: hashOf(first) })]), [2, 3]);
    assert.deepEqual(expiredRevisions(daemonSet(), old, []), []);
  });

  it('lab/W22: without a label are known by their name', () => {
    const revision = stored(daemonSet(), 1);
    const { labels: _, ...metadata } = revision.metadata;
    assert.equal(hashOf({ ...revision, metadata }), metadata.name);
  });
});
