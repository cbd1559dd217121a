import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mountPathOf, subPathOf } from './container-mounts.ts';
import { containerDirectory, podDirectory } from './pod-directory.ts';

const mount = { name: 'v', mountPath: '/m' };

describe('mounts of a container', () => {
  for (const { given, want } of [
    { given: '/etc/config/', want: '/etc/config' },
    { given: '/a//b/../c/.', want: '/a/c' },
    { given: 'data', want: '/data' },
  ]) {
    it(`lab/N26: are at ${want} for ${given}`, () =>
      assert.equal(mountPathOf({ name: 'v', mountPath: given }), want));
  }

  for (const mountPath of ['/', '', '//', '/..']) {
    it(`are refused at "${mountPath}"`, () =>
      assert.throws(() => mountPathOf({ name: 'v', mountPath }), /volume "v" cannot be mounted at/));
  }

  for (const { given, want } of [
    { given: {}, want: '' },
    { given: { subPath: 'a//b/' }, want: 'a/b' },
    { given: { subPath: '..data' }, want: '..data' },
    { given: { subPathExpr: 'logs/$(POD)' }, want: 'logs/expanded' },
  ]) {
    it(`show the part "${want}"`, () => {
      const expand = (text: string) => text.replace('$(POD)', 'expanded');
      assert.equal(subPathOf({ ...mount, ...given }, expand), want);
    });
  }

  for (const given of [{ subPath: '/etc' }, { subPath: 'a/../../b' }, { subPathExpr: '$(UP)' }]) {
    it(`refuse a part that leaves the volume: ${JSON.stringify(given)}`, () => {
      const problem = { name: 'VolumeProblem', message: /must be relative and must not contain '\.\.'/ };
      assert.throws(() => subPathOf({ ...mount, ...given }, () => '../x'), problem);
    });
  }

  it('cannot expand without somebody who does', () =>
    assert.throws(() => subPathOf({ ...mount, subPathExpr: '$(X)' }), /cannot be expanded here/));
});

describe('directories of a pod', () => {
  it('lab/N32: are where the kubelet has them', () => {
    assert.equal(podDirectory('/n', 'u-1'), '/n/var/lib/kubelet/pods/u-1');
    assert.equal(containerDirectory('/n', 'u-1', 'c'), '/n/var/lib/kubelet/pods/u-1/containers/c');
  });

  for (const uid of ['', '..', 'a/b', '.', '../../etc', 'a\u0000']) {
    it(`lab/N32: are refused for the name ${JSON.stringify(uid)}`, () =>
      assert.throws(() => podDirectory('/n', uid), { reason: 'UnsafeName' }));
  }
});
