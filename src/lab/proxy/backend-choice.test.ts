import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { VirtualClock } from '../../base/clock.ts';
import { BackendChoice } from './backend-choice.ts';
import type { Backend, Frontend } from './service-frontends.ts';

const backend = (id: string): Backend => ({ host: id, port: 80, node: 'n1', isReady: true, isLastResort: false });
const frontend = (ids: string, affinitySeconds = 0): Frontend => ({
  protocol: 'TCP',
  at: { host: '10.16.96.10', port: 80 },
  service: { namespace: 'default', name: 'web' },
  backends: ids
    .split('')
    .filter((id) => id !== '')
    .map(backend),
  isLocal: false,
  affinitySeconds,
});
const from = (address: string) => ({ address, node: undefined });

describe('BackendChoice', () => {
  it('lab/X11: takes one after the other', () => {
    const choice = new BackendChoice(new VirtualClock());
    const chosen = Array.from({ length: 7 }, () => choice.choose(frontend('abc'), from('x'))?.host);
    assert.equal(chosen.join(''), 'abcabca');
  });

  it('lab/X11: has nobody to choose where there is nobody', () => {
    const choice = new BackendChoice(new VirtualClock());
    for (const seconds of [0, 60]) assert.equal(choice.choose(frontend('', seconds), from('x')), undefined);
  });

  it('lab/X11: law: shares are equal, whoever comes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.constantFrom('x', 'y', 'z')), (size, clients) => {
        const choice = new BackendChoice(new VirtualClock());
        const ids = 'abcdefghi'.slice(0, size);
        const chosen = clients.map((client) => choice.choose(frontend(ids), from(client))?.host);
        const counts = ids.split('').map((id) => chosen.filter((one) => one === id).length);
        assert.ok(Math.max(...counts) - Math.min(...counts) <= 1);
      }),
    );
  });

  it('lab/X11: leaves a client with its backend, for as long as it comes again', async () => {
    const clock = new VirtualClock();
    const choice = new BackendChoice(clock);
    const choose = (client: string, ids = 'abc') => choice.choose(frontend(ids, 60), from(client))?.host;
    assert.deepEqual([choose('x'), choose('y'), choose('x'), choose('y')], ['a', 'b', 'a', 'b']);
    await clock.advance(59_000);
    assert.equal(choose('x'), 'a');
    await clock.advance(59_000);
    assert.deepEqual([choose('x'), choose('y')], ['a', 'c']);
    await clock.advance(60_000);
    assert.equal(choose('x'), 'a', 'the next in turn, as for anybody');
  });

  it('lab/X11: gives a client another backend when its own is gone', () => {
    const choice = new BackendChoice(new VirtualClock());
    const choose = (ids: string) => choice.choose(frontend(ids, 60), from('x'))?.host;
    assert.deepEqual([choose('abc'), choose('bc'), choose('abc')], ['a', 'c', 'c']);
  });

  it('remembers no more clients than it may: the one that was silent longest goes', () => {
    const choice = new BackendChoice(new VirtualClock());
    const choose = (client: string) => choice.choose(frontend('ab', 60), from(client))?.host;
    assert.equal(choose('first'), 'a');
    for (let at = 0; at < 10_000; at++) choose(`client-${at}`);
    const again = choose('client-0');
    assert.equal(choose('client-0'), again);
    assert.equal(choose('first'), 'b');
  });
});
