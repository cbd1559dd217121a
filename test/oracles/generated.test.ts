import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { needsAll, needsOracle, type SuiteOptions } from '../support/needs-oracle.ts';

/** The sources that protobuf tables are made of come from Go's module cache. */
const needsGo = (): SuiteOptions => ({
  skip: spawnSync('go', ['version']).status === 0 ? false : 'go is not installed; it knows where the sources are',
});

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver', { min: '1.36' }),
  needsGo(),
);

describe('generated tables', needs, () => {
  it('style/S9: are what the generator writes from the pinned Kubernetes', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/generate.ts', '--check']);
    assert.match(stdout, /generated files are up to date/);
  });
});
