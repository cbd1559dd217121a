import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ourVerdict, PROBE_FILES, type Probe, readProbes } from '../../../test/support/cel-probes.ts';

function check(probe: Probe): void {
  const { refused, errors } = ourVerdict(probe);
  if (probe.isSyntaxError) {
    assert.match(refused.join('\n'), /Syntax error/);
    return;
  }
  assert.deepEqual(refused, (probe.refused ?? []).toSorted());
  assert.deepEqual(errors, probe.want.toSorted());
}

describe('CEL answers what kube-apiserver answers', () => {
  for (const file of PROBE_FILES) {
    describe(`apiserver/X30: ${file}`, () => {
      for (const probe of readProbes(file)) it(probe.name, () => check(probe));
    });
  }
});
