import type { ApiClient } from '../../support/api-client.ts';
import { until } from '../../support/scratch.ts';
import { type ApiObject, type Frame, type History, isIn } from './history.ts';
import { Observer, pick, Witness } from './observers.ts';
import { type ListRequest, Recorder, type Target } from './recorder.ts';
import { makeWorld, type World } from './world.ts';

export interface TrafficOptions {
  readonly client: ApiClient;
  readonly operations: number;
  readonly random: () => number;
  /** Distinguishes what this run makes from what others do. */
  readonly id: string;
  /** Ours: compacts every 100 ms; else the server forgets when it likes. */
  readonly compacts: boolean;
}

const CONTENDED = Array.from({ length: 10 }, (_, index) => `shared-${index}`);
const [WRITERS, LONERS, LISTERS, OBSERVERS] = [8, 8, 4, 8];
const COMPACT_EVERY_MS = 100;
const KEPT_REVISIONS = 50;
const PAGE = 3;
const [EDGE_REVISIONS, FUTURE] = [20, 50];

/** Traffic in which everything happens at once to the same objects (T4.7), and all that was said about it. */
export async function traffic(options: TrafficOptions): Promise<History> {
  const { client } = options;
  await using world = await makeWorld(client, options.id);
  const recorder = new Recorder(client);
  const [first] = world.collections;
  if (first === undefined) throw new Error('no collections');
  const { revision: baseRevision } = await new Recorder(client).list({
    client: 'base',
    collection: first,
    namespace: '',
    selector: '',
  });
  recorder.newest = baseRevision;
  const witnesses = await Promise.all(
    world.collections.map((collection) => Witness.open(client, world, collection, baseRevision)),
  );
  const run = new Run(options, world, recorder);
  const playing = await run.play();
  await run.interruptedPages();
  const observers = [...playing, ...(await run.edges())];
  await run.fence(observers, witnesses);
  const truth = new Map<string, readonly Frame[]>(
    witnesses.map((witness) => [witness.collection.name, witness.frames]),
  );
  for (const witness of witnesses) witness.close();
  const { operations, watches, compactions } = recorder;
  return { operations, watches, compactions, truth, baseRevision, forgetsByItself: !options.compacts };
}

class Run {
  readonly #options: TrafficOptions;
  readonly #world: World;
  readonly #recorder: Recorder;
  #marks = 0;
  #compacted = 0;

  constructor(options: TrafficOptions, world: World, recorder: Recorder) {
    this.#options = options;
    this.#world = world;
    this.#recorder = recorder;
  }

  async play(): Promise<readonly Observer[]> {
    const { operations, compacts } = this.#options;
    const recorder = this.#recorder;
    let isDone = false;
    const isOver = () => isDone || recorder.operations.length >= operations;
    const observers = Array.from({ length: OBSERVERS }, (_, index) => this.#observer(index));
    const each = (count: number, work: (index: number) => Promise<void>) =>
      Array.from({ length: count }, async (_, index) => {
        while (!isOver()) await work(index);
      });
    const watching = observers.map((observer) => observer.run(isOver));
    const compacting = compacts ? this.#compactOften(isOver) : undefined;
    await Promise.all([
      ...each(WRITERS, (index) => this.#contend(`writer-${index}`)),
      ...each(LONERS, (index) => this.#loneLife(`loner-${index}`)),
      ...each(LISTERS, (index) => this.#read(`lister-${index}`)),
    ]);
    isDone = true;
    await Promise.all([...watching, compacting]);
    return observers;
  }

  /** Lists whose later pages would be others if they were read from what is there by then. */
  async interruptedPages(): Promise<void> {
    const client = 'pager';
    const namespace = this.#world.namespaces[0] ?? '';
    for (const collection of this.#world.collections) {
      const target = (name: string) => ({ client, collection, namespace, name });
      const names = Array.from({ length: PAGE + 1 }, (_, index) => `page-${index}`);
      for (const name of names) await this.#recorder.create(target(name), this.#content());
      await this.#pages({ client, collection, namespace, selector: '' }, async () => {
        await this.#recorder.remove(target(`page-${PAGE}`));
        await this.#recorder.create(target('page-late'), this.#content());
      });
    }
  }

  /** Watches that start at, just before and just after every border there is, once nothing happens any more (T4.6). */
  async edges(): Promise<readonly Observer[]> {
    const { newest } = this.#recorder;
    const oldest = newest - EDGE_REVISIONS;
    if (this.#options.compacts && oldest > this.#compacted) await this.#compact(oldest);
    const border = Math.max(oldest, this.#compacted);
    const revisions = [border - 1, border, border + 1, newest - 1, newest, newest + FUTURE];
    const observers = this.#world.collections.flatMap(({ name: collection }) =>
      revisions.map((revision, index) => ({
        observer: this.#observer(OBSERVERS + index),
        view: { collection, namespace: this.#world.namespaces[0] ?? '', selector: '' },
        start: { resourceVersion: String(revision), sendsInitial: false },
      })),
    );
    await Promise.all(observers.map(({ observer, view, start }) => observer.open(view, start)));
    return observers.map(({ observer }) => observer);
  }

  /** One last object everywhere: who has seen it has seen everything before. */
  async fence(observers: readonly Observer[], witnesses: readonly Witness[]): Promise<void> {
    for (const collection of this.#world.collections) {
      for (const namespace of this.#world.namespaces) {
        await this.#recorder.create(
          { client: 'fence', collection, namespace, name: 'fence' },
          { mark: 'fence', isOn: true },
        );
      }
    }
    const last = this.#recorder.newest;
    const isFence = (frame: Frame, namespace: string) => frame.seen?.key === `${namespace}/fence`;
    const seesEnd = (observer: Observer) => {
      const { view } = observer;
      if (view === undefined || observer.hasEnded || observer.isWaiting) return true;
      return observer.frames().some((frame) => isFence(frame, view.namespace));
    };
    await until(() => observers.every(seesEnd), 'every watcher sees the last object', 20_000);
    const isComplete = ({ frames }: Witness) =>
      this.#world.namespaces.every((name) => frames.some((frame) => isFence(frame, name)));
    await until(() => witnesses.every(isComplete), 'the witnesses see the last object', 20_000);
    for (const observer of observers) observer.close(fenceRevision(observer, last));
  }

  #observer(index: number): Observer {
    const { client, random } = this.#options;
    const [world, recorder] = [this.#world, this.#recorder];
    return new Observer(index, { client, recorder, world, random, compacted: () => this.#compacted });
  }

  async #compact(revision: number): Promise<void> {
    await this.#recorder.compact(revision);
    this.#compacted = revision;
  }

  #content() {
    return { mark: `m${this.#marks++}`, isOn: this.#options.random() < 0.6 };
  }

  #target(client: string, name: string): Target {
    const { random } = this.#options;
    return {
      client,
      collection: pick(this.#world.collections, random),
      namespace: pick(this.#world.namespaces, random),
      name,
    };
  }

  async #contend(client: string): Promise<void> {
    const { random } = this.#options;
    const recorder = this.#recorder;
    const name = pick(CONTENDED, random);
    // Each name lives in one namespace, so that writers really meet.
    const namespace = this.#world.namespaces[CONTENDED.indexOf(name) % this.#world.namespaces.length] ?? '';
    const target = { ...this.#target(client, name), namespace };
    const acts = [
      () => recorder.create(target, this.#content()),
      () => this.#readAndUpdate(target),
      () => recorder.patch(target, this.#content()),
      () => recorder.apply(target, this.#content()),
      () => (target.collection.hasStatus ? recorder.status(target, this.#content()) : recorder.get(target)),
      () => this.#removeKnown(target),
      () => recorder.remove(target),
      () => recorder.create(target, this.#content()),
      () => recorder.patch(target, this.#content()),
    ];
    await pick(acts, random)();
  }

  async #readAndUpdate(target: Target): Promise<ApiObject | undefined> {
    const known = await this.#recorder.get(target);
    return known === undefined
      ? this.#recorder.create(target, this.#content())
      : this.#recorder.update(target, known, this.#content());
  }

  async #removeKnown(target: Target): Promise<void> {
    const known = await this.#recorder.get(target);
    if (known === undefined) return;
    const { resourceVersion, uid = '' } = known.metadata ?? { name: '' };
    await this.#recorder.remove(
      target,
      this.#options.random() < 0.5 ? { uid } : { revision: Number(resourceVersion) },
    );
  }

  /** An object that nobody else touches, but deletions of everything. */
  async #loneLife(client: string): Promise<void> {
    const { random } = this.#options;
    const target = this.#target(client, `own-${this.#marks}-${client}`);
    let known = await this.#recorder.create(target, this.#content());
    for (let change = 0; change < 3 && known !== undefined; change++) {
      known = await this.#recorder.update(target, known, this.#content());
    }
    await this.#recorder.get(target);
    if (random() < 0.9) await this.#recorder.remove(target);
  }

  async #read(client: string): Promise<void> {
    const { random } = this.#options;
    const recorder = this.#recorder;
    const [collection, namespace] = [pick(this.#world.collections, random), pick(this.#world.namespaces, random)];
    const selector = random() < 0.4 ? 'toggle=on' : '';
    const list = { client, collection, namespace, selector };
    const near = Math.max(1, recorder.newest - Math.floor(random() * 20));
    const acts = [
      () => recorder.list(list),
      () => recorder.list({ ...list, resourceVersion: '0' }),
      () => recorder.list({ ...list, resourceVersion: String(near), match: 'NotOlderThan' }),
      () => recorder.list({ ...list, resourceVersion: String(near), match: 'Exact' }),
      () => this.#pages(list),
      () => this.#pages(list),
    ];
    await pick(acts, random)();
    if (random() < 0.02) await recorder.removeAll(client, collection, namespace);
  }

  /** `between` happens after the first page. */
  async #pages(list: ListRequest, between?: () => Promise<unknown>): Promise<void> {
    const chain = `chain-${this.#marks++}`;
    let page = await this.#recorder.list({ ...list, chain, query: `limit=${PAGE}` });
    await between?.();
    while (page.next !== '') {
      const query = `limit=${PAGE}&continue=${encodeURIComponent(page.next)}`;
      page = await this.#recorder.list({ ...list, chain, query, revision: page.revision });
    }
  }

  async #compactOften(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await new Promise((done) => setTimeout(done, COMPACT_EVERY_MS));
      const revision = this.#recorder.newest - Math.floor(this.#options.random() * KEPT_REVISIONS);
      if (revision > this.#compacted) await this.#compact(revision);
    }
  }
}

/** The fence of its own namespace is the last thing a watcher must have been told of. */
function fenceRevision(observer: Observer, last: number): number {
  const { view } = observer;
  const own = observer.frames().find(({ seen }) => seen?.key === `${view?.namespace}/fence`);
  return own === undefined || view === undefined || (own.seen !== undefined && !isIn(view, own.seen))
    ? 0
    : Math.min(own.revision, last);
}
