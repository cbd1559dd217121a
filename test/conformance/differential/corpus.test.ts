import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { needsAll, needsOracle } from '../../support/needs-oracle.ts';
import { loadCaseFiles } from './case-file.ts';
import { CaseRunner } from './case-runner.ts';
import { Report, readableDifferences } from './report.ts';
import { type ServerPair, startPair } from './server-pair.ts';
import type { StepResult } from './step-result.ts';

const FEWEST_REQUESTS = 400;
// Most of a case is waiting for the slower server.
const CASES_AT_ONCE = 6;

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('kube-controller-manager'));

describe('our API server beside kube-apiserver', needs, () => {
  const report = new Report();
  let pair: ServerPair;
  let runner: CaseRunner;
  before(async () => {
    pair = await startPair();
    runner = await CaseRunner.start(pair);
  });
  after(async () => {
    await runner[Symbol.asyncDispose]();
    await pair[Symbol.asyncDispose]();
    process.stdout.write(`${report.summary} (${await report.write('differential')})\n`);
  });

  for (const file of loadCaseFiles(join(import.meta.dirname, 'testdata'))) {
    describe(file.file, { concurrency: CASES_AT_ONCE }, () => {
      let setup: readonly StepResult[] = [];
      before(async () => {
        setup = await runner.setUp(file);
        report.add({ case: 'setup', file: file.file, steps: setup });
      });
      // A test of its own: what differs here must not keep the cases from running.
      it(`is set up with the same answers: ${file.file}`, () => assert.equal(readableDifferences(setup), ''));
      for (const one of file.cases) {
        it(one.name, async () => {
          const steps = await runner.run(file, one);
          report.add({ case: one.name, file: file.file, steps });
          const found = readableDifferences(steps);
          if (found !== '') assert.fail(`${file.file}: ${one.name}\n${found}`);
        });
      }
    });
  }

  it(`compares at least ${FEWEST_REQUESTS} requests`, () => {
    assert.ok(report.requests >= FEWEST_REQUESTS, report.summary);
  });
});
