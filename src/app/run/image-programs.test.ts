import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', '..', 'deploy');
const PROGRAMS = join(DEPLOY, 'programs');

/** What manifests of OpenShift start, and what they give it (section 1 of the operator's specification). */
const STARTED = [
  {
    path: 'azure-config-credentials-injector',
    argv: ['--creds-path=/etc/azure/credentials'],
    want: ['run', 'azure-config-credentials-injector', '--creds-path=/etc/azure/credentials'],
  },
  {
    path: 'cluster-controller-manager-operator',
    argv: ['--leader-elect=true', 'two words'],
    want: [
      'run',
      'cloud-operator',
      '--tls-cert-dir=/tmp/k8s-metrics-server/serving-certs',
      '--leader-elect=true',
      'two words',
    ],
  },
  { path: 'config-sync-controllers', argv: [], want: ['run', 'cloud-config-sync'] },
];

describe('the paths of the image by which OpenShift starts the cloud operator', () => {
  it('operator/R1: are there, executable, and copied to where they are looked for', async () => {
    assert.deepEqual(
      (await readdir(PROGRAMS)).toSorted(),
      STARTED.map(({ path }) => path),
    );
    assert.match(await readFile(join(DEPLOY, 'Containerfile'), 'utf8'), /^COPY programs\/ \/$/m);
  });

  for (const { path, argv, want } of STARTED) {
    it(`operator/R1: /${path} starts its component with the arguments that it gets`, async () => {
      await using folder = await scratchDirectory();
      const slipway = join(folder.path, 'slipway');
      await writeFile(slipway, '#!/bin/sh\nprintf "%s\\n" "$@"\n');
      await chmod(slipway, 0o755);
      const program = join(PROGRAMS, path);
      assert.equal((await stat(program)).mode & 0o111, 0o111);
      const env = { PATH: `${folder.path}:/usr/bin:/bin` };
      const printed = execFileSync(program, argv, { env, encoding: 'utf8' });
      assert.deepEqual(printed.trimEnd().split('\n'), want);
    });
  }
});
