import type { ApiClient, RawStream } from '../../support/api-client.ts';
import { type Frame, frameOf, isForeign, type View } from './history.ts';
import type { Recorder } from './recorder.ts';
import type { Collection, World } from './world.ts';

const POLL_MS = 5;
const [SHORTEST_MS, LONGER_MS] = [50, 250];
// Long enough for the bookmark before the end, which comes 2 s before it.
const TIMEOUT_SECONDS = 3;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export interface ObserverOptions {
  readonly client: ApiClient;
  readonly recorder: Recorder;
  readonly world: World;
  readonly random: () => number;
  /** Newest revision that was compacted away. */
  readonly compacted: () => number;
}

interface Start {
  readonly resourceVersion: string;
  readonly sendsInitial: boolean;
}

/** One who watches again and again, from everywhere a watch can start (T4.6). */
export class Observer {
  readonly #options: ObserverOptions;
  readonly #name: string;
  /** Stays until the server ends the watch. */
  readonly #isPatient: boolean;
  #opened: number;
  #lastRevision = 0;
  #frames = new Frames();
  #current:
    | { readonly view: View; readonly start: Start; readonly stream: RawStream; readonly openedAt: number }
    | undefined;

  constructor(index: number, options: ObserverOptions) {
    this.#name = `watcher-${index}`;
    this.#opened = index;
    this.#isPatient = index === 0;
    this.#options = options;
  }

  /** Watches until told to stop; the last watch stays open. */
  async run(isOver: () => boolean): Promise<void> {
    for (let view = this.#anyView(); ; ) {
      // Half of the time it goes on where it was, as clients do.
      const resumed = this.#options.random() < 0.5 ? this.#resumed() : undefined;
      if (resumed === undefined) view = this.#anyView();
      await this.open(view, resumed ?? this.#anyStart());
      await this.#whileOpen(isOver);
      if (isOver() && !this.hasEnded && !this.isWaiting) return;
      this.close(0);
    }
  }

  async #whileOpen(isOver: () => boolean): Promise<void> {
    const lastsMs = this.#isPatient ? Number.POSITIVE_INFINITY : SHORTEST_MS + this.#options.random() * LONGER_MS;
    const endsAt = performance.now() + lastsMs;
    while (!isOver() && performance.now() < endsAt && !this.hasEnded) await pause(POLL_MS);
  }

  #resumed(): Start | undefined {
    const revision = this.#lastRevision;
    return revision === 0 ? undefined : { resourceVersion: String(revision), sendsInitial: false };
  }

  get view(): View | undefined {
    return this.#current?.view;
  }

  frames(): readonly Frame[] {
    return this.#frames.upTo(this.#current?.stream.lines ?? []);
  }

  get hasEnded(): boolean {
    return this.#current?.stream.hasEnded() ?? true;
  }

  /** Ends the watch and writes down what it said. */
  close(openUntil: number): void {
    if (this.#current === undefined) return;
    const { view, start, stream, openedAt } = this.#current;
    const frames = this.frames();
    this.#frames = new Frames();
    const hasEnded = stream.hasEnded();
    stream.close();
    this.#current = undefined;
    this.#lastRevision = frames.some(({ type }) => type === 'ERROR') ? 0 : lastRevision(frames, start);
    const until = hasEnded ? 0 : openUntil;
    this.#options.recorder.watches.push({
      client: this.#name,
      view,
      ...start,
      openedAt,
      frames,
      openUntil: until,
    });
  }

  /** It waits for a revision in the future, and would never hear of the end. */
  get isWaiting(): boolean {
    return Number(this.#current?.start.resourceVersion ?? 0) > this.#options.recorder.newest;
  }

  #anyView(): View {
    const { world, random } = this.#options;
    const collection = pick(world.collections, random).name;
    const selector = random() < 0.5 ? 'toggle=on' : '';
    // Everywhere means also the objects of others, which nobody wrote down.
    return { collection, namespace: pick(world.namespaces, random), selector };
  }

  /** All kinds of starts in turn, so that a short run has them too. */
  #anyStart(): Start {
    const { recorder, random, compacted } = this.#options;
    const { newest } = recorder;
    const back = () => String(Math.max(1, newest - Math.floor(random() * 100)));
    const since = (revision: number) => (revision > 0 ? String(revision) : back());
    const plain = (resourceVersion: string) => ({ resourceVersion, sendsInitial: false });
    const starts: readonly (() => Start)[] = [
      () => ({ resourceVersion: String(newest), sendsInitial: true }),
      () => plain(back()),
      () => plain(since(compacted())),
      () => plain(since(compacted() - 1)),
      () => plain(''),
      () => plain('0'),
      () => plain(String(newest)),
      () => plain(String(newest + 1 + Math.floor(random() * 100))),
      () => ({ resourceVersion: '', sendsInitial: true }),
    ];
    return starts[this.#opened++ % starts.length]?.() ?? plain('');
  }

  async open(view: View, start: Start): Promise<void> {
    const { client, world } = this.#options;
    const query = new URLSearchParams({ watch: '1', allowWatchBookmarks: 'true' });
    query.set('timeoutSeconds', String(TIMEOUT_SECONDS));
    if (start.resourceVersion !== '') query.set('resourceVersion', start.resourceVersion);
    if (view.selector !== '') query.set('labelSelector', view.selector);
    if (start.sendsInitial) {
      query.set('sendInitialEvents', 'true');
      query.set('resourceVersionMatch', 'NotOlderThan');
    }
    const collection = world.collections.find(({ name }) => name === view.collection);
    const openedAt = performance.now();
    const path = `${collection?.path(view.namespace)}?${query.toString()}`;
    const stream = await client.open({ method: 'GET', path, headers: { 'user-agent': this.#name } });
    this.#current = { view, start, stream, openedAt };
  }
}

/** Lines are read once, however often they are asked for. */
class Frames {
  readonly #known: Frame[] = [];
  #read = 0;

  upTo(lines: readonly string[]): readonly Frame[] {
    for (const line of lines.slice(this.#read)) this.#known.push(frameOf(line));
    this.#read = lines.length;
    return this.#known.filter(({ seen }) => seen === undefined || !isForeign(seen));
  }
}

function lastRevision(frames: readonly Frame[], { resourceVersion, sendsInitial }: Start): number {
  // A watch that began with the state has no place to resume before the state is complete.
  const isComplete = frames.some(({ isInitialEnd }) => isInitialEnd);
  if (sendsInitial && !isComplete) return 0;
  if (!sendsInitial && !(Number(resourceVersion) > 0)) return 0;
  return Math.max(Number(resourceVersion), ...frames.map(({ revision }) => revision));
}

export function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}

/** Sees everything of one collection from the start. */
export class Witness {
  readonly collection: Collection;
  readonly #stream: RawStream;
  readonly #namespaces: ReadonlySet<string>;
  readonly #frames = new Frames();

  private constructor(collection: Collection, stream: RawStream, namespaces: readonly string[]) {
    this.collection = collection;
    this.#stream = stream;
    this.#namespaces = new Set(namespaces);
  }

  static async open(client: ApiClient, world: World, collection: Collection, revision: number): Promise<Witness> {
    const path = `${collection.path()}?watch=1&resourceVersion=${revision}&timeoutSeconds=600`;
    return new Witness(collection, await client.open({ method: 'GET', path }), world.namespaces);
  }

  get frames(): readonly Frame[] {
    if (this.#stream.hasEnded()) throw new Error(`the witness of ${this.collection.name} was sent away`);
    return this.#frames
      .upTo(this.#stream.lines)
      .filter(({ seen }) => this.#namespaces.has(seen?.key.split('/')[0] ?? ''));
  }

  close(): void {
    this.#stream.close();
  }
}
