import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Taint, Toleration } from '../../../api/generated/core-v1-types.ts';
import { tolerates, untolerated } from './taints.ts';

const taint = (key: string, effect: Taint['effect'] = 'NoSchedule', value?: string): Taint => ({
  key,
  effect,
  ...(value !== undefined && { value }),
});

describe('tolerations', () => {
  const TABLE: readonly (readonly [toleration: Toleration, taint: Taint, isTolerated: boolean])[] = [
    [{ key: 'a', operator: 'Exists' }, taint('a'), true],
    [{ key: 'a', operator: 'Exists' }, taint('a', 'NoExecute', 'v'), true],
    [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }, taint('a', 'NoExecute'), false],
    [{ key: 'b', operator: 'Exists' }, taint('a'), false],
    [{ operator: 'Exists' }, taint('a'), true],
    [{ operator: 'Exists', effect: 'NoExecute' }, taint('a'), false],
    [{ key: 'a' }, taint('a'), true],
    [{ key: 'a', value: '' }, taint('a'), true],
    [{ key: 'a', value: 'v' }, taint('a', 'NoSchedule', 'v'), true],
    [{ key: 'a', operator: 'Equal', value: 'v' }, taint('a', 'NoSchedule', 'w'), false],
    [{ key: 'a', operator: 'Equal', value: 'v' }, taint('a'), false],
    [{ key: 'a', operator: 'Gt', value: '1' }, taint('a', 'NoSchedule', '2'), false],
    [{ key: 'a', operator: 'Lt', value: '3' }, taint('a', 'NoSchedule', '2'), false],
  ];
  for (const [toleration, found, isTolerated] of TABLE) {
    const what = `${JSON.stringify(toleration)} ${isTolerated ? 'covers' : 'does not cover'}`;
    it(`${what} ${JSON.stringify(found)}`, () => assert.equal(tolerates(toleration, found), isTolerated));
  }

  it('names the first taint that is not tolerated, of the effects that were asked for', () => {
    const taints = [taint('soft', 'PreferNoSchedule'), taint('a'), taint('b', 'NoExecute'), taint('c')];
    const tolerations: Toleration[] = [{ key: 'a', operator: 'Exists' }];
    assert.equal(untolerated(taints, tolerations, ['NoSchedule', 'NoExecute'])?.key, 'b');
    assert.equal(untolerated(taints, tolerations, ['NoSchedule'])?.key, 'c');
    assert.equal(untolerated(taints, undefined, ['PreferNoSchedule'])?.key, 'soft');
  });

  it('finds nothing to tolerate where nothing is tainted', () => {
    assert.equal(untolerated(undefined, undefined, ['NoSchedule']), undefined);
    assert.equal(untolerated([taint('a')], undefined, []), undefined);
  });
});
