import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { jobWith, podOfJob } from '../../../../test/support/lab-jobs.ts';
import type { Job, JobSpec, JobStatus } from '../../../api/generated/batch-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { isTracked } from './job-pod.ts';
import { jobTally, uidOf } from './job-tally.ts';
import { counted, track } from './job-tracking.ts';

const EVENTS = ['make', 'succeed', 'fail', 'delete', 'gone', 'work', 'crash', 'lost', 'refuse'] as const;

interface Event {
  readonly what: (typeof EVENTS)[number];
  /** Which pod it happens to. */
  readonly which: number;
}

type Write = (world: World) => boolean;

/**
 * A server with a job and its pods, and a controller that makes one write at a time: between any two of them anything
 * may happen, and it may die.
 */
class World {
  #job: Job;
  #version = 0;
  #made = 0;
  #pods: readonly Pod[] = [];
  /** What the controller is about to do; empty when it has to look again. */
  #writes: readonly Write[] = [];
  /** Pods that have ended or were deleted, by uid, and whether they ever succeeded. */
  readonly ended = new Map<string, boolean>();

  constructor(spec: Partial<JobSpec>) {
    this.#job = jobWith({ completions: 1_000_000, parallelism: 1_000_000, backoffLimit: 1_000_000, ...spec });
  }

  get status(): JobStatus {
    return this.#job.status ?? {};
  }

  step({ what, which }: Event): void {
    if (what === 'make') this.#make();
    else if (what === 'work') this.work();
    else if (what === 'crash') this.#writes = [];
    else if (what === 'lost' || what === 'refuse') this.#trouble(what);
    else this.#change(what, which);
    this.check();
  }

  /** The next write; whoever has none looks at the world. */
  work(): void {
    const [write, ...rest] = this.#writes.length > 0 ? this.#writes : this.#look();
    this.#writes = write?.(this) === true ? rest : [];
    this.check();
  }

  /** Everything ends, and the controller has its turns without trouble: what it was about may be stale, so three. */
  finish(): void {
    for (let which = 0; which < this.#pods.length; which++) this.step({ what: 'fail', which });
    for (let turn = 0; turn < 3; turn++) {
      do this.work();
      while (this.#writes.length > 0);
    }
  }

  /** The write is made and nobody learns of it, or it is refused: either way the controller looks again. */
  #trouble(what: 'lost' | 'refuse'): void {
    const [write] = this.#writes;
    if (what === 'lost') write?.(this);
    this.#writes = [];
  }

  #look(): readonly Write[] {
    const [job, pods, version] = [this.#job, this.#pods, this.#version];
    const { status, release } = track({ job, pods, tally: jobTally(job, pods), end: undefined });
    const left = pods.filter((pod) => isTracked(pod) && !release.includes(pod));
    return [
      (world) => world.#store(status, version),
      ...release.map(
        (pod): Write =>
          (world) =>
            world.#untrack(uidOf(pod)),
      ),
      (world) => world.#store(counted(status, left), version + 1),
    ];
  }

  /** As the server does: not over a newer version. */
  #store(status: JobStatus, version: number): boolean {
    if (this.#version !== version) return false;
    this.#job = { ...this.#job, status };
    this.#version++;
    return true;
  }

  #untrack(uid: string): boolean {
    this.#pods = this.#pods.flatMap((pod) => {
      if (uidOf(pod) !== uid) return [pod];
      const { finalizers: _, ...metadata } = pod.metadata;
      return metadata.deletionTimestamp === undefined ? [{ ...pod, metadata }] : [];
    });
    return true;
  }

  #make(): void {
    this.#made++;
    this.#pods = [...this.#pods, podOfJob(`p${this.#made}`, { index: this.#made })];
  }

  #change(what: 'succeed' | 'fail' | 'delete' | 'gone', which: number): void {
    const at = which % Math.max(1, this.#pods.length);
    const pod = this.#pods[at];
    if (pod === undefined) return;
    this.#pods = this.#pods.toSpliced(at, 1, ...this.#changed(pod, what));
  }

  #changed(pod: Pod, what: 'succeed' | 'fail' | 'delete' | 'gone'): readonly Pod[] {
    if (what === 'gone') return unlessTracked(pod);
    return what === 'delete' ? this.#deleted(pod) : this.#ended(pod, what);
  }

  #deleted(pod: Pod): readonly Pod[] {
    this.ended.set(uidOf(pod), this.ended.get(uidOf(pod)) === true);
    return unlessTracked(leaving(pod));
  }

  /** A pod that is deleted may still succeed: it is counted as failed already, or will count as what it is. */
  #ended(pod: Pod, what: string): readonly Pod[] {
    if (pod.status?.phase !== 'Running') return [pod];
    this.ended.set(uidOf(pod), what === 'succeed');
    return [{ ...pod, status: { phase: what === 'succeed' ? 'Succeeded' : 'Failed' } }];
  }

  /** Nothing is counted that has not ended, and nothing twice. */
  check(): void {
    const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted = {} } = this.status;
    const listed = [...(uncounted.succeeded ?? []), ...(uncounted.failed ?? [])];
    assert.equal(new Set(listed).size, listed.length, 'no pod is listed twice');
    assert.ok(succeeded + failed + listed.length <= this.ended.size, 'no more are counted than ended');
    const tally = jobTally(this.#job, this.#pods);
    assert.ok(tally.succeeded + tally.failed <= this.ended.size, 'no more are told than ended');
  }
}

/** Whoever deletes it, the finalizer keeps it. */
const unlessTracked = (pod: Pod): readonly Pod[] => (isTracked(pod) ? [pod] : []);

const leaving = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
});

const eventArbitrary = fc.record({ what: fc.constantFrom(...EVENTS), which: fc.nat(3) });

/** A pod that is listed as failed, since it is deleted, succeeds before the finalizer goes. */
const LATE_SUCCESS = (['make', 'delete', 'work', 'succeed', 'crash', 'work', 'work', 'work'] as const).map(
  (what) => ({
    what,
    which: 0,
  }),
);

describe('laws of jobs', () => {
  const MODES: readonly (readonly [name: string, spec: Partial<JobSpec>])[] = [
    ['a job', {}],
    ['an indexed job', { completionMode: 'Indexed' }],
    ['a job that replaces only failed pods', { podReplacementPolicy: 'Failed' }],
  ];
  for (const [name, spec] of MODES) {
    it(`lab/W27: ${name} counts every pod once, whatever happens in whatever order`, () => {
      fc.assert(
        fc.property(fc.array(eventArbitrary, { maxLength: 60 }), (events) => {
          const world = new World(spec);
          for (const event of events) world.step(event);
          // A pod that is being deleted ends in the end.
          world.finish();
          const { succeeded = 0, failed = 0, uncountedTerminatedPods } = world.status;
          assert.equal(succeeded + failed, world.ended.size);
          assert.ok(succeeded <= [...world.ended.values()].filter(Boolean).length);
          assert.deepEqual(uncountedTerminatedPods ?? {}, {});
        }),
        { numRuns: 1000, examples: [[LATE_SUCCESS]] },
      );
    });
  }
});
