import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { loadCaseFiles } from './differential/case-file.ts';
import { CaseRunner } from './differential/case-runner.ts';
import { readableDifferences } from './differential/report.ts';
import { type ServerPair, startPair } from './differential/server-pair.ts';

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('kube-controller-manager'));

describe('admission beside kube-apiserver', needs, () => {
  let pair: ServerPair;
  let runner: CaseRunner;
  before(async () => {
    pair = await startPair();
    runner = await CaseRunner.start(pair);
  });
  after(async () => {
    await runner[Symbol.asyncDispose]();
    await pair[Symbol.asyncDispose]();
  });

  for (const file of loadCaseFiles(join(import.meta.dirname, 'testdata', 'admission'))) {
    describe(file.file, { concurrency: 4 }, () => {
      before(async () => assert.equal(readableDifferences(await runner.setUp(file)), ''));
      for (const one of file.cases) {
        it(one.name, async () => {
          const found = readableDifferences(await runner.run(file, one));
          if (found !== '') assert.fail(found);
        });
      }
    });
  }
});
