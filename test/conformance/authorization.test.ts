import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { type Binding, type Policy, type Review, randomPolicy, randomReviews } from './authorization-cases.ts';
import { loadCaseFiles } from './differential/case-file.ts';
import { CaseRunner } from './differential/case-runner.ts';
import { readableDifferences } from './differential/report.ts';
import { type Peer, type ServerPair, startPair } from './differential/server-pair.ts';

const REVIEWS = 500;
const SEED = 20_260_101;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const WAIT_MS = 20_000;

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('kube-controller-manager'));

interface Decision {
  readonly allowed: boolean;
  readonly reason?: string;
}

async function post(peer: Peer, path: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const headers = { 'content-type': 'application/json' };
  const answer = await peer.client('admin').send({ method: 'POST', path, headers, body: JSON.stringify(body) });
  return { status: answer.status, body: JSON.parse(answer.body.toString('utf8')) };
}

async function create(peer: Peer, path: string, body: unknown): Promise<void> {
  const answer = await post(peer, path, body);
  assert.ok(answer.status === 201 || answer.status === 409, JSON.stringify(answer.body));
}

async function apply(peer: Peer, { namespaces, roles, bindings }: Policy): Promise<void> {
  for (const name of namespaces) await create(peer, '/api/v1/namespaces', { metadata: { name } });
  for (const { kind, namespace, name, rules } of roles) {
    const place = kind === 'Role' ? `namespaces/${namespace}/roles` : 'clusterroles';
    await create(peer, `${RBAC}/${place}`, { metadata: { name }, rules });
  }
  for (const binding of bindings) await bind(peer, binding);
}

async function bind(peer: Peer, { namespace, name, roleRef, subjects }: Binding): Promise<void> {
  const place = namespace === '' ? 'clusterrolebindings' : `namespaces/${namespace}/rolebindings`;
  const apiGroup = 'rbac.authorization.k8s.io';
  await create(peer, `${RBAC}/${place}`, { metadata: { name }, roleRef: { apiGroup, ...roleRef }, subjects });
}

async function decide(peer: Peer, { spec }: Review): Promise<Decision> {
  const { status, body } = await post(peer, '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
  assert.equal(status, 201, JSON.stringify(body));
  return (body as { status: Decision }).status;
}

/** Upstream's authorizer hears of new bindings a moment later, the last one last. */
async function settled(peer: Peer, last: Review): Promise<void> {
  const startedMs = performance.now();
  while (!(await decide(peer, last)).allowed) {
    if (performance.now() - startedMs > WAIT_MS) assert.fail(`${peer.name} does not know the last binding`);
    await sleep(50);
  }
}

describe('authorization beside kube-apiserver', needs, () => {
  let pair: ServerPair;
  let runner: CaseRunner;
  const policy = randomPolicy(SEED);
  before(async () => {
    pair = await startPair();
    runner = await CaseRunner.start(pair);
    await Promise.all(
      [pair.upstream, pair.ours].map(async (peer) => {
        await apply(peer, policy);
        await settled(peer, policy.last);
      }),
    );
  });
  after(async () => {
    await runner[Symbol.asyncDispose]();
    await pair[Symbol.asyncDispose]();
  });

  for (const file of loadCaseFiles(join(import.meta.dirname, 'testdata', 'authorization'))) {
    for (const one of file.cases) {
      it(one.name, async () => {
        const found = readableDifferences(await runner.run(file, one));
        if (found !== '') assert.fail(found);
      });
    }
  }

  it(`apiserver/Z4, Z5: ${REVIEWS} random reviews are decided the same, for the same reason`, async () => {
    const { upstream, ours } = pair;
    let allowed = 0;
    for (const review of randomReviews(SEED, REVIEWS, policy)) {
      const [theirs, own] = await Promise.all([decide(upstream, review), decide(ours, review)]);
      const what = JSON.stringify(review.spec);
      assert.equal(own.allowed, theirs.allowed, what);
      // Of several bindings upstream names any one.
      if (review.isUnique) assert.equal(own.reason, theirs.reason, what);
      if (own.allowed) allowed++;
    }
    assert.ok(allowed > REVIEWS / 20, `only ${allowed} of ${REVIEWS} were allowed, so this proved little`);
  });
});
