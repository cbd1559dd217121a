import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SelfSubjectRulesReview } from '../../api/generated/authorization-v1.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { ApiError, NetworkError } from '../client/api-error.ts';
import type { Writer } from '../client/kube-client.ts';
import type { Need } from '../rbac/need.ts';
import { exitCodeOf } from './exit-code.ts';
import { checkPermissions, missingPermissions, permissionsOf, permissionText } from './self-check.ts';

interface Attributes {
  readonly verb: string;
  readonly resource: string;
}

/** An API server that only answers reviews, and tells nobody his rules. */
function reviewer(decide: (attributes: Attributes) => boolean) {
  const state = { most: 0, now: 0, asked: [] as Attributes[] };
  const create = async (kind: unknown, object: unknown) => {
    if (kind === SelfSubjectRulesReview) return { status: { resourceRules: [], incomplete: true } };
    const { spec } = object as { spec: { resourceAttributes: Attributes } };
    state.asked.push(spec.resourceAttributes);
    state.now += 1;
    state.most = Math.max(state.most, state.now);
    await new Promise((resolve) => setImmediate(resolve));
    state.now -= 1;
    return { status: { allowed: decide(spec.resourceAttributes) } };
  };
  // The check reads nothing but the status of what is created.
  return { client: { create } as unknown as Pick<Writer, 'create'>, state };
}

const NEEDS: readonly Need[] = [
  { group: '', resource: 'pods', verbs: ['get', 'list'] },
  { group: 'apps', resource: 'deployments/status', verbs: ['patch'], namespace: 'own' },
  { group: '', resource: 'secrets', verbs: ['get', 'create'], names: ['a', 'b'], namespace: 'own' },
  { group: '', resource: 'configmaps', verbs: ['list', 'watch'], names: ['a'], namespace: 'own' },
  { group: '', resource: 'nodes', verbs: ['get'], scope: 'Cluster' },
];

describe('permissionsOf', () => {
  it('asks per verb, namespace and name; creations have no name, and cluster objects no namespace', () => {
    const text = permissionsOf(NEEDS, ['x', 'y']).map(
      ({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace} ${name}`,
    );
    assert.deepEqual(text, [
      'get pods x ',
      'get pods y ',
      'list pods x ',
      'list pods y ',
      'patch deployments/status own ',
      'get secrets own a',
      'get secrets own b',
      'create secrets own ',
      // A list of one object by its name: what the generated role allows, and nothing more is asked for.
      'list configmaps own a',
      'watch configmaps own a',
      'get nodes  ',
    ]);
  });
});

describe('missingPermissions', () => {
  it('lists every missing verb, a few questions at a time', async () => {
    const { client, state } = reviewer(({ verb }) => verb === 'get');
    const permissions = permissionsOf(
      NEEDS,
      Array.from({ length: 20 }, (_, index) => `n${index}`),
    );
    const missing = await missingPermissions(client, permissions);
    assert.equal(state.asked.length, permissions.length);
    assert.ok(state.most > 1 && state.most <= 8, `${state.most} at a time`);
    assert.deepEqual(
      missing,
      permissions.filter(({ verb }) => verb !== 'get'),
    );
    assert.equal(
      permissionText(permissionsOf(NEEDS, [])),
      [
        'get, list pods in the whole cluster',
        'patch deployments.apps/status in namespace own',
        'get secrets "a" in namespace own',
        'get secrets "b" in namespace own',
        'create secrets in namespace own',
        'list, watch configmaps "a" in namespace own',
        'get nodes in the whole cluster',
      ].join('; '),
    );
  });
});

describe('checkPermissions', () => {
  const setUp = (create: () => Promise<unknown>) => {
    const clock = new VirtualClock();
    const lines: string[] = [];
    const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => clock.now() });
    const client = { create } as unknown as Pick<Writer, 'create'>;
    const stop = new AbortController();
    const options = { client, needs: NEEDS, namespaces: [], clock, log, timeoutMs: 120_000 };
    return { clock, lines, stop, check: () => checkPermissions(options, stop.signal) };
  };

  it('runtime/8.2: missing permissions are one message with all of them, and exit code 1', async () => {
    const { check } = setUp(async () => ({ status: { allowed: false } }));
    await assert.rejects(check(), (error) => {
      assert.equal(exitCodeOf(error), 1);
      assert.match(String(error), /this program may not: get, list pods in the whole cluster; patch deployments/);
      return true;
    });
  });

  it('waits for a server that does not answer, says so once, and goes on when it does', async () => {
    let isUp = false;
    const { clock, lines, check } = setUp(async () => {
      if (!isUp) throw new NetworkError('connection refused', { mayHaveHappened: false });
      return { status: { allowed: true } };
    });
    const checked = check();
    for (let second = 0; second < 60; second++) await clock.advance(1000);
    assert.equal(lines.length, 1);
    isUp = true;
    for (let second = 0; second < 3; second++) await clock.advance(1000);
    await checked;
  });

  it('runtime/8.2: a server that never answers is exit code 3 after two minutes', async () => {
    const refused = new NetworkError('connection refused', { mayHaveHappened: false });
    const { clock, check } = setUp(() => Promise.reject(refused));
    const failed = assert.rejects(
      check(),
      (error) => exitCodeOf(error) === 3 && /connection refused/.test(String(error)),
    );
    for (let second = 0; second < 123; second++) await clock.advance(1000);
    await failed;
  });

  it('does not wait when the credentials are refused', async () => {
    const { check } = setUp(() =>
      Promise.reject(new ApiError({ code: 401, reason: 'Unauthorized', message: 'no' })),
    );
    await assert.rejects(check(), (error) => {
      assert.equal(exitCodeOf(error), 1);
      assert.match(String(error), /does not accept the credentials of this program \(401 Unauthorized\); check/);
      return true;
    });
  });

  it('runtime/8.2: does not wait for a server whose certificate is not trusted: exit code 2', async () => {
    const cause = Object.assign(new Error('x'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' });
    const untrusted = new NetworkError('signed by a stranger', { mayHaveHappened: false, cause });
    const { check } = setUp(() => Promise.reject(untrusted));
    await assert.rejects(check(), (error) => {
      assert.equal(exitCodeOf(error), 2);
      assert.match(String(error), /the API server is not trusted: signed by a stranger/);
      return true;
    });
  });

  it('ends when the program stops', async () => {
    const { check, stop, clock } = setUp(() => Promise.reject(new NetworkError('x', { mayHaveHappened: false })));
    const failed = assert.rejects(check(), /stop now/);
    await clock.advance(10);
    stop.abort(new Error('stop now'));
    await failed;
    assert.equal(clock.nextDueMs, undefined);
  });
});
