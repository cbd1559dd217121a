import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Activity } from '../../kube/quiet/activity.ts';
import type { LabOptions } from '../setup/lab-options.ts';
import { labClock } from './start-clock.ts';

const started = (options: LabOptions) =>
  labClock(options, { activity: new Activity(), isBusy: () => false, lastChangeMs: () => 0 });
const ours = { 'acme/ours': { argv: ['node', 'x.ts'] } };
const foreign = { ...ours, 'acme/foreign': { argv: ['/bin/x'], foreign: true } };

describe('labClock', () => {
  const allowed: readonly { readonly options: LabOptions; readonly mode: string }[] = [
    { options: {}, mode: 'real' },
    { options: { clock: 'auto', images: ours }, mode: 'auto' },
    { options: { clock: { scaled: 20 }, images: ours }, mode: 'scaled' },
    { options: { clock: 'real', images: foreign }, mode: 'real' },
    { options: { clock: { scaled: 1 }, images: foreign }, mode: 'real' },
  ];
  for (const { options, mode } of allowed)
    it(`lab/T7: ${JSON.stringify(options)} is ${mode}`, () => {
      assert.equal(started(options).mode, mode);
    });

  for (const [clock, found] of [['auto', 'auto'] as const, [{ scaled: 20 }, 'scaled:20'] as const])
    it(`lab/T7: refuses foreign images with clock ${found}, names the image and a way on`, () => {
      assert.throws(() => started({ clock, images: foreign }), {
        reason: 'ForeignImageNeedsRealTime',
        message: `images: "acme/foreign" is foreign and knows only real time, but the clock of the lab is ${found}; start the lab with clock real, or without this image`,
      });
    });

  for (const scaled of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    it(`lab/T2: refuses the factor ${scaled}`, () => {
      assert.throws(() => started({ clock: { scaled } }), { reason: 'InvalidLabClock' });
    });
});
