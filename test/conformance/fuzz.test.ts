import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { accessFrom } from '../support/api-client.ts';
import { Attacker, type Outcome } from '../support/fuzz/attacker.ts';
import { attacks, comparableAttacks } from '../support/fuzz/attacks.ts';
import { prepareTargets, runCampaign, textOf } from '../support/fuzz/campaign.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { type ServerPair, startPair } from './differential/server-pair.ts';

const COUNT = Number(process.env['SLIPWAY_FUZZ_REQUESTS'] ?? 10_000);
const COMPARED = Number(process.env['SLIPWAY_FUZZ_COMPARED'] ?? 300);
const SEED = Number(process.env['SLIPWAY_FUZZ_SEED'] ?? 2);

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('kube-controller-manager'));

describe('hostile requests to our API server and to kube-apiserver', needs, () => {
  let pair: ServerPair;
  before(async () => {
    pair = await startPair();
    await Promise.all([pair.upstream, pair.ours].map((peer) => prepareTargets(peer.client('admin'))));
  });
  after(() => pair[Symbol.asyncDispose]());

  it('reliability/P10: are answered by both with codes of the same class', async (context) => {
    using upstream = new Attacker(accessFrom(pair.upstream.kubeconfig('admin')));
    using ours = new Attacker(accessFrom(pair.ours.kubeconfig('admin')));
    const unlike: string[] = [];
    for (const request of comparableAttacks(COMPARED, SEED)) {
      // One after the other: what a request finds must be the same on both sides.
      const [theirs, mine] = await Promise.all([upstream.send(request), ours.send(request)]);
      if (!isAlike(theirs, mine))
        unlike.push(`${theirs.status} there, ${mine.status} here: ${textOf(request)}
  there: ${shown(theirs)}
  here:  ${shown(mine)}`);
    }
    context.diagnostic(`${COMPARED} requests compared, ${unlike.length} answered otherwise`);
    assert.deepEqual(unlike, []);
  });

  it(`reliability/P9: are all answered, ${COUNT} of them`, async (context) => {
    const report = await runCampaign(accessFrom(pair.ours.kubeconfig('admin')), attacks(COUNT, SEED));
    context.diagnostic(
      `seed ${SEED}: ${report.sent} requests, codes ${JSON.stringify(report.codes)}, event loop p99 ${report.loopDelayP99Ms.toFixed(0)} ms`,
    );
    for (const line of report.slowest) context.diagnostic(line);
    assert.deepEqual(report.problems, []);
  });
});

const shown = ({ body, problem }: Outcome): string => problem ?? body.toString('utf8').slice(0, 300);

/**
 * Alike is the same hundred. On purpose we answer 400 or 413 where upstream blames itself (section 26: E15, S8, T2, H4)
 * or drops the connection: protobuf to a custom resource (C3), a path that is no percent-encoding over HTTP/2.
 */
function isAlike(theirs: Outcome, mine: Outcome): boolean {
  const [upstream, ours] = [theirs.status, mine.status].map((status) => Math.floor(status / 100));
  return upstream === ours || (ours === 4 && (upstream === 5 || upstream === 0));
}
