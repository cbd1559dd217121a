import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, ServiceAccountTokenProjection } from '../../../api/generated/core-v1-types.ts';
import type { ObjectKey } from '../../../api/object.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import type { TokenOptions } from '../../../kube/client/kube-client.ts';
import { PodToken } from './pod-token.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { serviceAccountName: 'robot', containers: [] },
};
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Somebody who issues numbered tokens, and asks for the current one whenever it is due. */
function tokenRig(projection: Partial<ServiceAccountTokenProjection> = {}) {
  const clock = new VirtualClock();
  const asked: { account: ObjectKey; options: TokenOptions }[] = [];
  const problems: unknown[] = [];
  let isAway = false;
  let held = '';
  const createToken = async (account: ObjectKey, options: TokenOptions = {}) => {
    if (isAway) throw new Error('nobody answers');
    asked.push({ account, options });
    const expires = new Date(clock.now().getTime() + (options.expirationSeconds ?? 0) * 1000);
    return { token: `t${asked.length}`, expirationTimestamp: expires.toISOString() };
  };
  const refresh = async () => {
    held = await token.current().catch((error: unknown) => {
      problems.push(error);
      return held;
    });
  };
  const token = new PodToken({
    client: { createToken },
    clock,
    log: SILENT_LOG,
    pod,
    projection: { path: 'token', ...projection },
    due: () => void refresh(),
  });
  const goAway = (away: boolean) => {
    isAway = away;
  };
  return { clock, asked, problems, token, refresh, goAway, held: () => held };
}

describe('token of a pod', () => {
  it('lab/N31: is asked for with the account and the pod it ends with', async () => {
    const { asked, token } = tokenRig({ audience: 'vault', expirationSeconds: 3607 });
    using _token = token;
    assert.equal(await token.current(), 't1');
    assert.deepEqual(asked, [
      {
        account: { namespace: 'n', name: 'robot' },
        options: {
          audiences: ['vault'],
          expirationSeconds: 3607,
          boundObject: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' },
          timeoutMs: 30_000,
        },
      },
    ]);
  });

  it('lab/N31: is for the API server and an hour unless told otherwise', async () => {
    const { asked, token } = tokenRig();
    using _token = token;
    await token.current();
    assert.equal(asked[0]?.options.audiences, undefined);
    assert.equal(asked[0]?.options.expirationSeconds, 3600);
  });

  for (const { name, seconds, dueMs } of [
    { name: '80 % of an hour', seconds: 3600, dueMs: 48 * MINUTE },
    { name: '80 % of ten minutes', seconds: 600, dueMs: 8 * MINUTE },
    { name: 'a day, when it would live much longer', seconds: 30 * 24 * 3600, dueMs: 24 * HOUR },
  ]) {
    it(`lab/N31: is replaced after ${name}, and not before`, async () => {
      const rig = tokenRig({ expirationSeconds: seconds });
      using _token = rig.token;
      await rig.refresh();
      await rig.clock.advance(dueMs - 1);
      await rig.refresh();
      assert.equal(rig.held(), 't1');
      await rig.clock.advance(1);
      assert.equal(rig.held(), 't2');
      await rig.clock.advance(dueMs);
      assert.equal(rig.held(), 't3');
    });
  }

  it('lab/N31: serves on while there is no new one, until it expires', async () => {
    const rig = tokenRig({ expirationSeconds: 3600 });
    using _token = rig.token;
    await rig.refresh();
    rig.goAway(true);
    await rig.clock.advance(59 * MINUTE);
    assert.deepEqual([rig.held(), rig.problems], ['t1', []]);
    await rig.clock.advance(2 * MINUTE);
    assert.match(String(rig.problems[0]), /VolumeProblem: failed to fetch token: nobody answers/);
    rig.goAway(false);
    await rig.clock.advance(10_000);
    assert.equal(rig.held(), 't2');
  });

  it('says why there is none at the start, and tries again', async () => {
    const rig = tokenRig();
    using _token = rig.token;
    rig.goAway(true);
    await rig.refresh();
    assert.equal(rig.problems.length, 1);
    rig.goAway(false);
    await rig.clock.advance(10_000);
    assert.equal(rig.held(), 't1');
  });

  it('is not replaced when the pod is gone', async () => {
    const rig = tokenRig();
    await rig.refresh();
    rig.token[Symbol.dispose]();
    await rig.clock.advance(24 * HOUR);
    assert.equal(rig.clock.nextDueMs, undefined);
    assert.equal(rig.held(), 't1');
  });
});
