import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startApiServer } from '../../src/apiserver/start.ts';
import type { Store } from '../../src/apiserver/store/store.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import { ApiClient, accessFrom } from '../support/api-client.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { check } from '../torture/consistency/check.ts';
import type { History } from '../torture/consistency/history.ts';
import { mutated, STORE_MUTANTS, STREAM_MUTANTS } from '../torture/consistency/mutants.ts';
import { summaryOf } from '../torture/consistency/summary.ts';
import { traffic } from '../torture/consistency/traffic.ts';

const OPERATIONS = Number(process.env['SLIPWAY_CONSISTENCY_OPERATIONS'] ?? 1800);
const SEED = Number(process.env['SLIPWAY_CONSISTENCY_SEED'] ?? 1);
const MUTANT_OPERATIONS = 200;

interface Trial {
  readonly storage: 'memory' | 'sqlite';
  readonly operations: number;
  readonly plant?: (store: Store) => void;
}

async function historyOf({ storage, operations, plant }: Trial): Promise<History> {
  await using directory = await scratchDirectory();
  const dataDir = join(directory.path, 'data');
  await using server = await startApiServer(storage === 'memory' ? { storage } : { storage, dataDir });
  const kubeconfig = join(directory.path, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(await server.kubeconfig()), { mode: 0o600 });
  using client = new ApiClient(accessFrom(kubeconfig));
  const clock = new VirtualClock({ seed: SEED });
  plant?.(server.store);
  return await traffic({ client, operations, random: () => clock.random(), id: 'ours', compacts: true });
}

describe(`a server under contending traffic (seed ${SEED})`, () => {
  let recorded: History | undefined;

  for (const storage of ['sqlite', 'memory'] as const) {
    it(`reliability/P1, P3, P5, P14, P15, P16, P17, P18, P19: says nothing inconsistent with ${storage}`, async (test) => {
      recorded = await historyOf({ storage, operations: OPERATIONS });
      const violations = check(recorded);
      const summary = summaryOf(recorded, violations);
      test.diagnostic(summary);
      assert.equal(violations.length, 0, summary);
      assert.ok(recorded.operations.length >= OPERATIONS);
      assert.ok(recorded.watches.length > 20, `only ${recorded.watches.length} watches`);
      assert.ok(recorded.compactions.length > 5, `only ${recorded.compactions.length} compactions`);
    });
  }

  for (const mutant of STREAM_MUTANTS) {
    it(`would be found out if ${mutant.name}`, () => {
      const history = recorded === undefined ? undefined : mutated(recorded, mutant);
      assert.ok(history !== undefined, 'the traffic gave no occasion for the mistake');
      const rules = check(history).map(({ rule }) => rule);
      assert.ok(
        rules.some((rule) => mutant.rules.includes(rule)),
        `found: ${rules.join(', ') || 'nothing'}`,
      );
    });
  }
});

describe(`a server with a planted mistake (seed ${SEED})`, () => {
  for (const { name, rules, plant } of STORE_MUTANTS) {
    it(`is found out when ${name}`, async () => {
      const history = await historyOf({ storage: 'memory', operations: MUTANT_OPERATIONS, plant });
      const found = check(history);
      assert.ok(
        found.some(({ rule }) => rules.includes(rule)),
        summaryOf(history, found),
      );
    });
  }
});
