import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../src/base/clock.ts';
import { ApiClient, accessFrom } from '../support/api-client.ts';
import { startEmbedded } from '../support/embedded.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { check } from '../torture/consistency/check.ts';
import { summaryOf } from '../torture/consistency/summary.ts';
import { traffic } from '../torture/consistency/traffic.ts';

const UPSTREAM_OPERATIONS = Number(process.env['SLIPWAY_CONSISTENCY_OPERATIONS'] ?? 3000);
const OWN_OPERATIONS = Number(process.env['SLIPWAY_CONSISTENCY_OPERATIONS'] ?? 20_000);
const SEED = Number(process.env['SLIPWAY_CONSISTENCY_SEED'] ?? 2);

const needs = needsAll(needsOracle('etcd', { min: '3.5.13' }), needsOracle('kube-apiserver'));

/** Traffic and its verdict; the summary says what was found. */
async function verdictOn(kubeconfig: string, operations: number, compacts: boolean) {
  using client = new ApiClient(accessFrom(kubeconfig));
  const clock = new VirtualClock({ seed: SEED });
  // A server that others use as well must not see the same names twice.
  const id = `r${process.pid}`;
  const history = await traffic({ client, operations, random: () => clock.random(), id, compacts });
  const violations = check(history);
  return { history, violations, summary: summaryOf(history, violations) };
}

describe('consistency of the real server', needs, () => {
  it('reliability/P14, P15, P16, P17, P18, P19: the checker finds nothing wrong with it', async (test) => {
    const running = process.env['SLIPWAY_ORACLE_KUBECONFIG'];
    await using stack = new AsyncDisposableStack();
    const cluster = running === undefined ? await startKubernetes() : undefined;
    stack.defer(() => cluster?.stop());
    const kubeconfig = running ?? cluster?.admin ?? '';
    const { history, violations, summary } = await verdictOn(kubeconfig, UPSTREAM_OPERATIONS, false);
    test.diagnostic(summary);
    assert.equal(violations.length, 0, summary);
    assert.ok(history.operations.length >= UPSTREAM_OPERATIONS);
  });
});

describe('consistency of our server', () => {
  it('reliability/P1, P3, P5: holds under more traffic than the quick test makes', async (test) => {
    await using server = await startEmbedded();
    const kubeconfig = await server.user('admin', ['system:masters']);
    const { violations, summary } = await verdictOn(kubeconfig, OWN_OPERATIONS, true);
    test.diagnostic(summary);
    assert.equal(violations.length, 0, summary);
  });
});
