import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CloudError } from '../cloud-error.ts';
import { listQuery, pageOf } from './listing.ts';
import type { ResourceRecord } from './resource-record.ts';

const record = (serial: number, more: Partial<ResourceRecord> = {}): ResourceRecord => ({
  kind: 'things',
  id: `t-${serial}`,
  serial,
  name: `name-${serial}`,
  tags: {},
  state: 'active',
  createdAt: '',
  updatedAt: '',
  generation: 1,
  fields: {},
  ...more,
});

const query = (text: string) => listQuery(new URLSearchParams(text));

describe('lists', () => {
  const records = [
    record(1, { tags: { cluster: 'c1', role: 'worker' } }),
    record(2, { tags: { cluster: 'c1' }, state: 'error' }),
    record(3, { tags: { cluster: 'c2', constructor: 'x' }, name: 'other' }),
  ];
  const cases = [
    { filter: '', want: [1, 2, 3] },
    { filter: 'tag.cluster=c1', want: [1, 2] },
    { filter: 'tag.cluster=c1&tag.role=worker', want: [1] },
    { filter: 'tag.cluster=c1&state=error', want: [2] },
    { filter: 'name=other', want: [3] },
    { filter: 'tag.toString=c1', want: [] },
    { filter: 'tag.constructor=x', want: [3] },
    { filter: 'limit=2', want: [1, 2] },
    { filter: 'name=nobody', want: [] },
  ];
  for (const { filter, want } of cases) {
    it(`lab/C2: ?${filter} gives ${want.join(', ') || 'nothing'}`, () => {
      const page = pageOf(records, query(filter));
      assert.deepEqual(
        page.records.map(({ serial }) => serial),
        want,
      );
    });
  }

  const refused = [
    { filter: 'limit=0', code: 'InvalidArgument', target: 'limit' },
    { filter: 'limit=101', code: 'InvalidArgument', target: 'limit' },
    { filter: 'limit=ten', code: 'InvalidArgument', target: 'limit' },
    { filter: 'limit=', code: 'InvalidArgument', target: 'limit' },
    { filter: 'limit=1.5', code: 'InvalidArgument', target: 'limit' },
    { filter: 'pageToken=rubbish', code: 'InvalidArgument', target: 'pageToken' },
    { filter: 'nmae=x', code: 'UnknownField', target: 'nmae' },
  ];
  for (const { filter, code, target } of refused) {
    it(`lab/C2: ?${filter} is refused`, () => {
      assert.throws(
        () => query(filter),
        (error) => error instanceof CloudError && error.code === code && error.options.target === target,
      );
    });
  }

  it('lab/C2: a token is good only for the list it came from', () => {
    const { nextPageToken = '' } = pageOf(records, query('limit=1'));
    assert.equal(query(`pageToken=${nextPageToken}`).after, 1);
    assert.throws(() => query(`pageToken=${nextPageToken}&state=error`), /belongs to a list with other filters/);
  });

  it('lab/C2: page by page, show everything that is there all the time once, whatever else comes and goes', () => {
    fc.assert(
      fc.property(
        fc.nat(30),
        fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 7 }),
        (size, changes, limit) => {
          const world = new ChangingWorld(size);
          const seen: string[] = [];
          let token: string | undefined = '';
          for (let page = 0; token !== undefined; page++) {
            assert.ok(page < MOST_PAGES, 'the pages do not end');
            const found = pageOf(world.records, query(`limit=${limit}${token && `&pageToken=${token}`}`));
            seen.push(...found.records.map(({ id }) => id));
            token = found.nextPageToken;
            for (const each of changes[page] ?? []) world.change(each);
          }
          assert.equal(new Set(seen).size, seen.length, 'something came twice');
          for (const id of world.always) assert.ok(seen.includes(id), `${id} is missing`);
        },
      ),
    );
  });
});

/** One for each object that there can be: 30 at the start, 100 that come. */
const MOST_PAGES = 200;

const change = fc.record({ isRemoval: fc.boolean(), at: fc.nat(50) });

class ChangingWorld {
  records: readonly ResourceRecord[];
  /** Identifiers of what was there from the start and still is. */
  readonly always: Set<string>;
  #serial: number;

  constructor(size: number) {
    this.records = Array.from({ length: size }, (_, n) => record(n + 1));
    this.always = new Set(this.records.map(({ id }) => id));
    this.#serial = size;
  }

  change({ isRemoval, at }: { readonly isRemoval: boolean; readonly at: number }): void {
    const gone = isRemoval ? this.records[at] : undefined;
    if (gone !== undefined) this.always.delete(gone.id);
    const left = this.records.filter((each) => each !== gone);
    this.records = gone === undefined ? [...left, record(++this.#serial)] : left;
  }
}
