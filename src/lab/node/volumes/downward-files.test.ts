import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { downwardFiles, podField } from './downward-files.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'n',
    uid: 'u',
    labels: { 'b.example/x': 'two words', a: 'say "hi"\n' },
    annotations: { note: 'ü\t1' },
  },
  spec: { containers: [] },
};

describe('downward API', () => {
  for (const { path, want } of [
    { path: 'metadata.name', want: 'p' },
    { path: 'metadata.namespace', want: 'n' },
    { path: 'metadata.uid', want: 'u' },
    { path: 'metadata.labels', want: 'a="say \\"hi\\"\\n"\nb.example/x="two words"' },
    { path: 'metadata.annotations', want: 'note="ü\\t1"' },
    { path: "metadata.labels['b.example/x']", want: 'two words' },
    { path: "metadata.annotations['note']", want: 'ü\t1' },
    { path: "metadata.labels['none']", want: '' },
    { path: "metadata.labels['constructor']", want: '' },
  ]) {
    it(`lab/N26: gives ${path}`, () => assert.equal(podField(pod, path), want));
  }

  for (const path of ['spec.nodeName', 'metadata.labels[x]', '', 'constructor']) {
    it(`refuses the field "${path}"`, () =>
      assert.throws(() => podField(pod, path), {
        name: 'VolumeProblem',
        message: `unsupported fieldPath: ${path}`,
      }));
  }

  it('lab/N26: writes fields and resources to the paths and with the modes that are asked for', () => {
    const items = [
      { path: 'name', fieldRef: { fieldPath: 'metadata.name' } },
      { path: 'limits/cpu', mode: 0o400, resourceFieldRef: { resource: 'limits.cpu', containerName: 'c' } },
      {
        path: 'limits/memory',
        resourceFieldRef: { resource: 'limits.memory', containerName: 'c', divisor: '1Mi' },
      },
    ];
    const limits = { cpu: '1500m' };
    const limited: Pod = { ...pod, spec: { containers: [{ name: 'c', resources: { limits } }] } };
    const files = downwardFiles(items, 0o644, { pod: limited, allocatable: { memory: '2Gi' } });
    const found = [...files].map(([path, { bytes, mode }]) => [path, Buffer.from(bytes).toString(), mode]);
    assert.deepEqual(found, [
      ['name', 'p', 0o644],
      ['limits/cpu', '2', 0o400],
      ['limits/memory', '2048', 0o644],
    ]);
  });
});
