import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BOAT, boat, FakeServer, failure, listOf } from '../../../test/support/cache-world.ts';
import type { KubeObject, ObjectList } from '../../api/object.ts';
import type { ListOptions } from '../client/kube-client.ts';
import { listPages } from './object-list.ts';

const [a, b, c] = ['a', 'b', 'c'].map((name, at) => boat(name, { version: at + 1 }));

/** What is taken when the server answers like this, and at which version. */
async function taken(
  answer: (options: ListOptions) => ObjectList,
  options: ListOptions = { resourceVersion: '' },
) {
  const server = new FakeServer();
  server.onList = answer;
  let found: string[] = [];
  const version = await listPages(server.live, { kind: BOAT }, options, {
    take: async (items: readonly KubeObject[]) => {
      const before = new Set(found);
      for (const { metadata } of items) found.push(metadata.name);
      return new Set(found).size === before.size + items.length;
    },
    restart: () => {
      found = [];
    },
  });
  return { found: found.join(''), version, requests: server.lists };
}

const whole = (items: readonly (KubeObject | undefined)[], version = 20): ObjectList =>
  listOf(
    version,
    items.filter((item) => item !== undefined),
  );

describe('pages of a list', () => {
  it('runtime/I1: are of 500, except when the list comes from the memory of the server', async () => {
    const answer = ({ continue: token }: ListOptions) =>
      token === undefined ? listOf(10, [boat('a', { version: 1 })], 't') : whole([b, c], 10);
    const paged = await taken(answer);
    assert.deepEqual([paged.found, paged.version], ['abc', '10']);
    assert.deepEqual(
      paged.requests.map(({ limit, continue: token }) => [limit, token]),
      [
        [500, undefined],
        [500, 't'],
      ],
    );
    const memory = await taken(() => whole([a, b, c]), { resourceVersion: '0' });
    assert.equal(memory.requests[0]?.limit, undefined);
  });

  it('follows pages that a server sends although none were asked for', async () => {
    const answer = ({ continue: token }: ListOptions) =>
      token === undefined ? listOf(10, [boat('a', { version: 1 })], 't') : whole([b], 10);
    assert.equal((await taken(answer, { resourceVersion: '0' })).found, 'ab');
  });

  const BROKEN: readonly (readonly [string, (options: ListOptions) => ObjectList])[] = [
    [
      'expire',
      ({ continue: token }) => {
        if (token !== undefined) throw failure(410, 'Expired');
        return listOf(10, [boat('a', { version: 1 })], 't');
      },
    ],
    ['repeat', ({ continue: token }) => listOf(10, [boat('a', { version: 1 })], token === undefined ? 't' : 'u')],
    ['go in a circle', () => listOf(10, [], 't')],
  ];
  for (const [what, answer] of BROKEN) {
    it(`runtime/I1, reliability/P23: pages that ${what} are followed by one list of everything`, async () => {
      const { found, version, requests } = await taken((options) =>
        options.limit === undefined ? whole([a, b, c]) : answer(options),
      );
      assert.deepEqual([found, version], ['abc', '20']);
      assert.equal(requests.at(-1)?.resourceVersion, '');
    });
  }

  it('reliability/P32: a list of everything that is a part, or has an object twice, is refused', async () => {
    const expired = ({ continue: token }: ListOptions) => {
      if (token !== undefined) throw failure(410, 'Expired');
      return listOf(10, [boat('a', { version: 1 })], 't');
    };
    await assert.rejects(
      taken((o) => (o.limit === undefined ? listOf(20, [], 'more') : expired(o))),
      /a part/,
    );
    await assert.rejects(
      taken((o) => (o.limit === undefined ? whole([a, b, a]) : expired(o))),
      /twice/,
    );
  });

  it('passes other failures on', async () => {
    const answer = ({ continue: token }: ListOptions) => {
      if (token !== undefined) throw failure(500, 'InternalError');
      return listOf(10, [], 't');
    };
    await assert.rejects(taken(answer), { code: 500 });
  });
});
