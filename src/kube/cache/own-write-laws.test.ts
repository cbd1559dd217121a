import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { boat, recordedLog } from '../../../test/support/cache-world.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ObjectEvent } from './cache.ts';
import { deepFrozen } from './object-form.ts';
import { ObjectStore } from './object-store.ts';

interface Logged {
  readonly type: 'put' | 'remove';
  readonly object: KubeObject;
  readonly version: number;
}

const KEYS = ['sea/a', 'sea/b'];
const versionNumber = (object: KubeObject): number => Number(object.metadata.resourceVersion);

/**
 * A server, a watch that is late, repeats events and mixes keys, and a process that writes and learns of its writes late.
 * Checks after every step what readers may see, and what handlers were told.
 */
class World {
  readonly #store = new ObjectStore(recordedLog([]));
  readonly #objects = new Map<string, KubeObject>();
  /** Everything that happened, by key. */
  readonly #log = new Map<string, Logged[]>(KEYS.map((key) => [key, []]));
  /** How far the watch is, by key. */
  readonly #at = new Map<string, number>(KEYS.map((key) => [key, 0]));
  /** Of this process, by key: a key is in one hand, so its answers come in order, but late. */
  readonly #answers = new Map<string, (() => void)[]>(KEYS.map((key) => [key, []]));
  /** What this process knows of its own writes, by key. */
  readonly #known = new Map<string, number>();
  /** Objects that this process deleted, or was told to be deleted. */
  readonly #gone = new Set<string>();
  readonly #read = new Map<string, number>();
  readonly #mirror = new Map<string, KubeObject>();
  /** When readers saw each state of a key last, and when its handlers were told something last. */
  readonly #seenAt = new Map<string, Map<KubeObject | undefined, number>>(KEYS.map((key) => [key, new Map()]));
  readonly #toldAt = new Map<string, number>();
  /** When handlers were told last of each state, as the one before or after a change; by version. */
  readonly #toldStateAt = new Map<number, number>();
  #checks = 0;
  #version = 100;
  #uids = 0;
  #listed = 100;

  write(key: string, isOwn: boolean): void {
    const old = this.#objects.get(key);
    const uid = old?.metadata.uid ?? `uid-${this.#uids++}`;
    const object = this.#record(key, 'put', uid);
    this.#objects.set(key, object);
    if (isOwn) {
      this.#answers.get(key)?.push(() => {
        this.#store.wrote(key, object, { isShown: true, seenVersion: String(this.#seen(key)), nowMs: 0 });
        this.#known.set(key, Math.max(this.#known.get(key) ?? 0, versionNumber(object)));
      });
    }
  }

  delete(key: string, how: 'other' | 'status' | 'object'): void {
    const old = this.#objects.get(key);
    if (old === undefined) return;
    const { uid = '', resourceVersion = '' } = old.metadata;
    this.#record(key, 'remove', uid);
    this.#objects.delete(key);
    if (how === 'other') return;
    this.#answers.get(key)?.push(() => {
      this.#store.deleted(key, { uid, ...(how === 'object' && { version: resourceVersion }) }, 0);
      this.#gone.add(uid);
    });
  }

  answer(key: string): boolean {
    const answer = this.#answers.get(key)?.shift();
    answer?.();
    return answer !== undefined;
  }

  /** The next event of a key, or one that came before. */
  deliver(key: string, repeat: number): void {
    const at = this.#at.get(key) ?? 0;
    const log = this.#log.get(key) ?? [];
    const removedAt = log.slice(0, at).findLastIndex(({ type }) => type === 'remove');
    // What was before a deletion is stopped by the reflector, which knows the order of all events.
    const index = repeat === 0 ? at : Math.max(removedAt, at - repeat);
    const event = log[index];
    if (event === undefined) return;
    if (repeat === 0) this.#at.set(key, at + 1);
    this.#tell(this.#store[event.type](key, event.object));
  }

  /** A list at some version that is not older than what the watch has shown. */
  relist(back: number): void {
    const shown = KEYS.map((key) => this.#log.get(key)?.[(this.#at.get(key) ?? 0) - 1]?.version ?? 0);
    const version = Math.max(this.#version - back, this.#listed, ...shown);
    const items = new Map<string, KubeObject>();
    for (const key of KEYS) {
      const log = this.#log.get(key) ?? [];
      const past = log.filter((event) => event.version <= version);
      const last = past.at(-1);
      if (last?.type === 'put') items.set(key, last.object);
      this.#at.set(key, past.length);
    }
    this.#listed = version;
    this.#tell(this.#store.replace({ items, version: String(version), isInitial: false }));
  }

  /** Read-your-writes: never older than a write that this process knows to have happened. */
  check(): void {
    this.#look();
    for (const key of KEYS) {
      const shown = this.#store.get(key);
      const known = this.#known.get(key) ?? 0;
      if (shown === undefined) {
        const wasGone = (this.#log.get(key) ?? []).some(
          ({ type, version }) => type === 'remove' && version > known,
        );
        assert.ok(known === 0 || wasGone, `${key} is hidden`);
        continue;
      }
      assert.ok(versionNumber(shown) >= known, `${key} is older than an own write`);
      assert.ok(!this.#gone.has(shown.metadata.uid ?? ''), `${key} is known to be deleted`);
      assert.ok(versionNumber(shown) >= (this.#read.get(key) ?? 0), `${key} is older than what was read before`);
      this.#read.set(key, versionNumber(shown));
    }
  }

  #look(): void {
    this.#checks++;
    for (const key of KEYS) this.#seenAt.get(key)?.set(this.#store.get(key), this.#checks);
  }

  finish(): void {
    for (const key of KEYS) {
      while (this.answer(key)) this.check();
    }
    for (const key of KEYS) {
      for (const _ of this.#log.get(key) ?? []) this.deliver(key, 0);
    }
    this.check();
    this.relist(0);
    for (const key of KEYS) {
      assert.equal(this.#store.get(key), this.#objects.get(key), key);
      assert.equal(this.#mirror.get(key), this.#objects.get(key), `what handlers know of ${key}`);
      this.#checkWoken(key);
    }
  }

  /** Whoever acted on a state that is no more is told of that very state afterwards: labels may say whom it concerns. */
  #checkWoken(key: string): void {
    for (const [state, seenAt] of this.#seenAt.get(key) ?? []) {
      if (state === this.#objects.get(key)) continue;
      const told = state === undefined ? this.#toldAt.get(key) : this.#toldStateAt.get(versionNumber(state));
      assert.ok((told ?? -1) >= seenAt, `${key} was seen at ${state?.metadata.resourceVersion}, nobody woke up`);
    }
  }

  /** Everything up to here has been shown, of all keys or of this one. */
  #seen(key: string): number {
    const next = KEYS.map((each) => this.#log.get(each)?.[this.#at.get(each) ?? 0]?.version ?? this.#version + 1);
    return Math.max(Math.min(...next) - 1, this.#log.get(key)?.[(this.#at.get(key) ?? 0) - 1]?.version ?? 0);
  }

  #record(key: string, type: Logged['type'], uid: string): KubeObject {
    const version = ++this.#version;
    const object = deepFrozen(boat(key.slice(4), { version, uid }));
    this.#log.get(key)?.push({ type, object, version });
    return object;
  }

  /** `old` is always what was told last; nothing is made twice or deleted twice. */
  #tell(events: readonly ObjectEvent[]): void {
    for (const { type, old, object } of events) {
      const key = `sea/${object.metadata.name}`;
      const before = this.#mirror.get(key);
      this.#toldAt.set(key, this.#checks);
      for (const state of [old, object, before])
        if (state !== undefined) this.#toldStateAt.set(versionNumber(state), this.#checks);
      assert.equal(before === undefined, type === 'create', `${type} of ${key}`);
      if (type === 'update') assert.equal(old, before);
      if (type === 'delete') this.#gone.add(object.metadata.uid ?? '');
      if (type === 'delete') this.#mirror.delete(key);
      else this.#mirror.set(key, object);
    }
  }
}

const key = fc.constantFrom(...KEYS);
const step = fc.oneof(
  fc.record({ op: fc.constant('write' as const), key, isOwn: fc.boolean() }),
  fc.record({
    op: fc.constant('delete' as const),
    key,
    how: fc.constantFrom('other' as const, 'status' as const, 'object' as const),
  }),
  fc.record({ op: fc.constant('answer' as const), key }),
  fc.record({ op: fc.constant('deliver' as const), key, repeat: fc.constantFrom(0, 0, 0, 1, 2) }),
  fc.record({ op: fc.constant('relist' as const), back: fc.nat(6) }),
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function take(world: World, next: Step): void {
  if (next.op === 'write') world.write(next.key, next.isOwn);
  else if (next.op === 'delete') world.delete(next.key, next.how);
  else if (next.op === 'answer') world.answer(next.key);
  else if (next.op === 'deliver') world.deliver(next.key, next.repeat);
  else world.relist(next.back);
}

function play(steps: readonly Step[]): void {
  const world = new World();
  for (const next of steps) {
    take(world, next);
    world.check();
  }
  world.finish();
}

describe('laws of own writes', () => {
  it('tells of an own write that another hand replaced, and that a list does not have', () => {
    play([
      { op: 'write', key: 'sea/b', isOwn: true },
      { op: 'delete', key: 'sea/b', how: 'other' },
      { op: 'write', key: 'sea/b', isOwn: false },
      { op: 'answer', key: 'sea/b' },
      { op: 'delete', key: 'sea/b', how: 'status' },
      { op: 'answer', key: 'sea/b' },
      { op: 'relist', back: 0 },
    ]);
  });

  it('runtime/I20, reliability/P24: no read is older than an own write, and in the end the store equals the server', () => {
    fc.assert(fc.property(fc.array(step, { minLength: 8, maxLength: 40 }), play), { numRuns: 8_000 });
  });
});
