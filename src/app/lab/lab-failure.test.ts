import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { terminalError, userError } from '../../base/errors.ts';
import { labFailure } from './lab-failure.ts';

const given = { detail: 'the lab did not start' };

describe('labFailure', () => {
  it('gives each cause its own way on', () => {
    const error = terminalError('NetworksInUse', 'all 235 lab networks are in use: node (process 7)');
    assert.deepEqual(labFailure(error, given), {
      health: 'failed',
      detail: 'the lab did not start',
      cause: 'all 235 lab networks are in use: node (process 7)',
      code: 'SW1108',
      look: [],
      next: ['once one of the labs is stopped:'],
    });
  });

  const ways = [
    {
      error: userError('NamespaceRefused', 'x'),
      want: ['npx slipway doctor', 'with isolation: auto in the scenario:'],
    },
    { error: Object.assign(new Error('spawn sh EAGAIN'), { code: 'EAGAIN' }), want: ['ulimit -u 4096'] },
    {
      error: new Error('outer', { cause: Object.assign(new Error('full'), { code: 'ENOSPC' }) }),
      want: ['once there is room on the disk:'],
    },
    { error: new Error('nobody knows'), want: [] },
  ];
  for (const { error, want } of ways)
    it(`says ${JSON.stringify(want)} for ${error.message}`, () => {
      assert.deepEqual(labFailure(error, given).next, want);
    });

  it('keeps the code of a store that cannot be opened', () => {
    assert.equal(labFailure(terminalError('StoreInUse', 'in use by process 7'), given).code, 'SW1104');
  });

  const picture = [
    'not within 1m of lab time: Deployment default/hello is rolled out',
    'Pod default/hello-1: Running, on w-1',
    '  container hello: CrashLoopBackOff: back-off 10s, not ready, 3 restarts',
  ];
  const newest = '  2s ago Warning BackOff Pod hello-1: Back-off restarting failed container hello';
  const pictures = [
    {
      name: 'the newest warning',
      lines: [
        ...picture,
        'events:',
        '  9s ago Warning Failed Pod hello-1: first',
        newest,
        '  1s ago Normal X Pod',
      ],
      want: `${picture[0]}; ${newest.trim()}`,
    },
    { name: 'the container', lines: picture, want: `${picture[0]}; ${picture[2]?.trim()}` },
    { name: 'the first line alone', lines: picture.slice(0, 1), want: picture[0] },
  ];
  for (const { name, lines, want } of pictures)
    it(`takes ${name} of a picture as the cause`, () => {
      assert.equal(labFailure(new Error(lines.join('\n')), given).cause, want);
    });
});
