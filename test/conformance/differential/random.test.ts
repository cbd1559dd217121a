import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { needsAll, needsOracle } from '../../support/needs-oracle.ts';
import type { Step } from './case-file.ts';
import { Player } from './player.ts';
import { randomSteps, revisionVariable, TOY_DEFINITION } from './random-world.ts';
import type { Recorded } from './recorded-answer.ts';
import { readableDifferences } from './report.ts';
import { type Peer, type ServerPair, startPair } from './server-pair.ts';
import { compareSides, type Side } from './step-result.ts';
import { WebhookServer } from './webhook-server.ts';

/** A fixed seed finds the same things everywhere; another one is for hunting. */
const SEED = Number(process.env['SLIPWAY_DIFFERENTIAL_SEED'] ?? 1);
const REQUESTS = Number(process.env['SLIPWAY_DIFFERENTIAL_REQUESTS'] ?? 300);
const REQUESTS_PER_RUN = 10;

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('kube-controller-manager'));

const namespace = (name: string): readonly Step[] => [
  { do: 'POST /api/v1/namespaces', body: { metadata: { name } } },
  { do: `GET /api/v1/namespaces/${name}/configmaps/kube-root-ca.crt`, until: { http: 200 } },
];

describe('random requests to our API server and to kube-apiserver', needs, () => {
  const run = randomBytes(3).toString('hex');
  const group = `random-${run}.example.com`;
  let pair: ServerPair;
  let webhooks: WebhookServer;
  let count = 0;
  let requests = 0;
  before(async () => {
    pair = await startPair();
    webhooks = await WebhookServer.start();
    for (const peer of [pair.upstream, pair.ours]) await definitionOn(peer);
  });
  after(async () => {
    await webhooks[Symbol.asyncDispose]();
    await pair[Symbol.asyncDispose]();
    process.stdout.write(`${requests} random requests compared (seed ${SEED})\n`);
  });

  const playerOn = (peer: Peer, variables: Map<string, unknown>): Player =>
    new Player({ peer, webhooks, hookPath: '', variables });

  async function definitionOn(peer: Peer): Promise<void> {
    using player = playerOn(peer, new Map([['group', group]]));
    const served: Step = { do: `GET /apis/${group}/v1/toys`, until: { http: 200 } };
    const [, last] = await player.play([TOY_DEFINITION, served]);
    assert.equal(last?.status, 200, last?.failure);
  }

  async function play(peer: Peer, steps: readonly Step[], ns: string): Promise<Side> {
    const variables = new Map<string, unknown>([
      ['group', group],
      ['ns', ns],
      ['next', ''],
    ]);
    using player = playerOn(peer, variables);
    await player.play([...namespace(ns), ...namespace(`${ns}-2`)]);
    const answers: Recorded[] = [];
    for (const step of steps) {
      rememberMissing(step, variables);
      const [answer] = await player.play([step]);
      if (answer === undefined) continue;
      answers.push(answer);
      rememberRevision(answer, variables);
    }
    return {
      answers: answers.map(asIfDeviating),
      place: { url: peer.url, webhookUrl: webhooks.url, nowMs: Date.now() },
    };
  }

  it('gives the same answers to any sequence of requests', async () => {
    const property = fc.asyncProperty(randomSteps, async (steps) => {
      const ns = `r${++count}-${run}`;
      requests += steps.length;
      const [left, right] = await Promise.all([play(pair.upstream, steps, ns), play(pair.ours, steps, ns)]);
      const found = readableDifferences(compareSides(left, right, true));
      if (found !== '') assert.fail(found);
    });
    const numRuns = Math.ceil(REQUESTS / REQUESTS_PER_RUN);
    await fc.assert(property, { seed: SEED, numRuns, endOnFailure: false });
  });
});

const REVISION = /\$\{(rv_\w+)\}/;

/** An object that was never seen has no revision: any old one will do. */
function rememberMissing(step: Step, variables: Map<string, unknown>): void {
  const variable = REVISION.exec(JSON.stringify(step))?.[1];
  if (variable !== undefined && !variables.has(variable)) variables.set(variable, '1');
}

interface Seen {
  readonly kind?: string;
  readonly metadata?: { name?: string; namespace?: string; resourceVersion?: string; continue?: string };
}

function rememberRevision({ body }: Recorded, variables: Map<string, unknown>): void {
  const { kind, metadata = {} } = (body ?? {}) as Seen;
  const { name, namespace, resourceVersion, continue: next } = metadata;
  if (next !== undefined && next !== '') variables.set('next', next);
  if (name === undefined || resourceVersion === undefined) return;
  variables.set(revisionVariable({ kind: pluralOf(kind), namespace: namespace ?? '', name }), resourceVersion);
}

const pluralOf = (kind: string | undefined): 'toys' | 'configmaps' => (kind === 'Toy' ? 'toys' : 'configmaps');

interface FailureBody {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
}

/**
 * Deviations E15, S8 and T2 are one: what upstream calls an error of its own, without a reason, is the client's. And of
 * several mistakes in a configuration upstream names now these, now those.
 */
function asIfDeviating(answer: Recorded): Recorded {
  const body = (answer.body ?? {}) as FailureBody;
  const message = body.message?.replace(/(failed to create typed patch object [^)]*\)): .*/s, '$1: …');
  const isBare = answer.status === 500 && body.kind === 'Status' && body.reason === undefined;
  if (isBare) return { ...answer, status: 400, body: { ...body, message, reason: 'BadRequest', code: 400 } };
  return message === body.message ? answer : { ...answer, body: { ...body, message } };
}
