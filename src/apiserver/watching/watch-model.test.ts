import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type WatchLine, WatchWorld } from '../../../test/support/watch-world.ts';
import { list } from '../rest/list.ts';

const NAMES = ['a/x', 'a/y', 'b/x', 'b/z'];
const LABELS = [{}, { app: 'one' }, { app: 'two' }, { app: 'one', tier: 'front' }];

type Labels = Readonly<Record<string, string>>;
type Step = { readonly name: string; readonly labels: Labels | undefined };
/** Objects by name: `revision labels` of each. */
type State = ReadonlyMap<string, { readonly revision: number; readonly labels: Labels }>;

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom(...NAMES),
  // Undefined removes.
  labels: fc.option(fc.constantFrom(...LABELS), { nil: undefined, freq: 4 }),
});

interface Selector {
  readonly query: string;
  readonly path: string;
  readonly matches: (name: string, labels: Labels) => boolean;
}

const ALL = '/api/v1/configmaps';
const IN_A = '/api/v1/namespaces/a/configmaps';
const selector = (path: string, query: string, matches: (labels: Labels, name: string) => boolean): Selector => ({
  path,
  query,
  matches: (name, labels) => (path === ALL || name.startsWith('a/')) && matches(labels, name),
});
const SELECTORS: readonly Selector[] = [
  selector(ALL, '', () => true),
  selector(IN_A, '', () => true),
  selector(ALL, 'labelSelector=app', ({ app }) => app !== undefined),
  selector(ALL, 'labelSelector=app%3Done', ({ app }) => app === 'one'),
  selector(IN_A, 'labelSelector=app!%3Done', ({ app }) => app !== 'one'),
  selector(
    ALL,
    'labelSelector=!tier,app%20in%20(one,two)',
    ({ tier, app }) => tier === undefined && app !== undefined,
  ),
  selector(ALL, 'fieldSelector=metadata.name%3Dx', (_, name) => name.endsWith('/x')),
  selector(
    IN_A,
    'fieldSelector=metadata.name!%3Dx&labelSelector=app',
    ({ app }, name) => name === 'a/y' && app !== undefined,
  ),
];

/** Makes the changes; gives the state at every revision. */
async function play(world: WatchWorld, steps: readonly Step[]): Promise<readonly State[]> {
  const states: State[] = [new Map(), new Map()];
  for (const { name, labels } of steps) {
    const state = new Map(states.at(-1));
    if (labels !== undefined)
      state.set(name, { revision: await world.put(name, { metadata: { labels } }), labels });
    else if (state.delete(name)) await world.remove(name);
    else continue;
    states.push(state);
  }
  return states;
}

const selected = (state: State, { matches }: Selector): readonly string[] =>
  [...state]
    .filter(([name, { labels }]) => matches(name, labels))
    .map(([name, { revision }]) => `${name}@${revision}`)
    .sort();

const nameOf = ({ object: { metadata } }: WatchLine): string => `${metadata.namespace}/${metadata.name}`;

/** What a client knows that had `from` and then got these lines up to a revision; complains of wrong types. */
function replayed(from: readonly string[], lines: readonly WatchLine[], upTo: number): readonly string[] {
  const known = new Map(from.map((text) => [text.split('@')[0] ?? '', text]));
  for (const line of lines) {
    const { resourceVersion } = line.object.metadata;
    if (Number(resourceVersion) > upTo) break;
    const name = nameOf(line);
    assert.equal(line.type === 'ADDED', !known.has(name), `${line.type} ${name}@${resourceVersion}`);
    if (line.type === 'DELETED') known.delete(name);
    else known.set(name, `${name}@${resourceVersion}`);
  }
  return [...known.values()].sort();
}

async function listed(world: WatchWorld, { path, query }: Selector, revision: number): Promise<readonly string[]> {
  const target = `${path}?${query}&resourceVersion=${revision}&resourceVersionMatch=Exact`;
  const { body } = await list(world.scope(target));
  if (typeof body === 'function') throw new Error('a list has a body');
  const { items } = JSON.parse(Buffer.concat(body).toString('utf8'));
  return items.map(
    (object: WatchLine['object']) => `${nameOf({ type: '', object })}@${object.metadata.resourceVersion}`,
  );
}

describe('watch and list', () => {
  it('apiserver/T10: a list at any revision is an earlier one and the events since, for every selector', async () => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      fc.constantFrom(...SELECTORS),
      fc.nat(),
      async (steps, selection, seed) => {
        await using world = new WatchWorld();
        const states = await play(world, steps);
        const last = states.length - 1;
        const start = 1 + (seed % last);
        using watch = await world.watch({
          path: selection.path,
          query: `${selection.query}&resourceVersion=${start}`,
        });
        const { lines } = watch.sink;
        const revisions = lines.map(({ object }) => Number(object.metadata.resourceVersion));
        assert.deepEqual(
          revisions,
          [...new Set(revisions)].sort((a, b) => a - b),
          'in order, each once',
        );
        const from = selected(states[start] ?? new Map(), selection);
        for (let revision = start; revision <= last; revision++) {
          const expected = selected(states[revision] ?? new Map(), selection);
          assert.deepEqual(replayed(from, lines, revision), expected);
          assert.deepEqual((await listed(world, selection, revision)).toSorted(), expected);
        }
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it('reliability/P17: a live watch tells the same as one that reads the history, whatever the client does', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.oneof(step, fc.constantFrom('stop reading', 'read')), { maxLength: 40 }),
      fc.constantFrom(...SELECTORS),
      async (acts, selection) => {
        await using world = new WatchWorld();
        const { path, query } = selection;
        using live = await world.watch({ path, query: `${query}&resourceVersion=1` });
        for (const act of acts) {
          if (act === 'stop reading') live.sink.isReading = false;
          else if (act === 'read') live.sink.take({ andReadsOn: true });
          else await play1(world, act);
        }
        live.sink.take({ andReadsOn: true });
        await world.settled();
        using later = await world.watch({ path, query: `${query}&resourceVersion=1` });
        assert.deepEqual(live.sink.lines, later.sink.lines);
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  /** Objects are large here, so that a client that does not read falls behind. */
  async function play1(world: WatchWorld, { name, labels }: Step): Promise<void> {
    const key = `/registry/core/configmaps/${name}`;
    if (labels !== undefined) await world.put(name, { metadata: { labels }, data: { big: 'x'.repeat(200_000) } });
    else if (world.store.head(key) !== undefined) await world.remove(name);
  }
});
