import type { Container } from '../../../api/generated/core-v1-types.ts';
import type { RunningContainer } from '../runtime/container-runtime.ts';
import { hookProblem } from './lifecycle-hooks.ts';
import type { PodEvents } from './pod-events.ts';
import type { PodParts } from './pod-parts.ts';

export interface Farewell {
  readonly parts: PodParts;
  readonly events: PodEvents;
  readonly container: Container;
  readonly going: RunningContainer;
  readonly wire: string;
  readonly graceMs: number;
  /** Resolves when those are gone that must be gone before. */
  readonly turn?: Promise<unknown>;
}

/** The hook `preStop`, then the turn of the container; resolves with how much of the grace both took (N14). */
export async function farewell(facts: Farewell): Promise<number> {
  const { parts, going, graceMs, turn } = facts;
  const clock = going.isSimulated ? parts.clock : parts.real;
  const timeoutMs = going.isSimulated ? graceMs : Math.min(graceMs, parts.maxGraceMs);
  const startMs = clock.monotonicMs();
  await preStop(facts, timeoutMs);
  if (turn !== undefined) {
    const over = Promise.withResolvers<void>();
    const leftMs = Math.max(0, timeoutMs - (clock.monotonicMs() - startMs));
    using _timer = clock.timer(leftMs, over.resolve);
    await Promise.race([turn, over.promise, going.exited]);
  }
  return clock.monotonicMs() - startMs;
}

async function preStop({ parts, events, container, going, wire }: Farewell, timeoutMs: number): Promise<void> {
  const hook = container.lifecycle?.preStop;
  if (hook === undefined || timeoutMs <= 0) return;
  const problem = await Promise.race([
    hookProblem(hook, hookFacts(parts, { container, run: going, wire, timeoutMs })),
    // Whoever ends during his last words needs no more of them.
    going.exited.then(() => undefined),
  ]);
  if (problem !== undefined) events.warning('FailedPreStopHook', `PreStopHook failed: ${problem}`);
}

/** A hook that never ends would keep its container for ever. */
const POST_START_MS = 2 * 60_000;

export interface Greeting extends Pick<Farewell, 'parts' | 'container' | 'going' | 'wire'> {
  /** Resolves when nobody wants to wait for the hook any more. */
  readonly left: Promise<void>;
}

/** Runs the hook `postStart`; what went wrong, or undefined. A container that has ended needs no greeting. */
export async function postStartProblem(facts: Greeting): Promise<string | undefined> {
  const { parts, container, going, wire, left } = facts;
  const hook = container.lifecycle?.postStart;
  if (hook === undefined) return undefined;
  const asked = hookProblem(hook, hookFacts(parts, { container, run: going, wire, timeoutMs: POST_START_MS }));
  const over = Promise.race([left, going.exited]).then(
    () => undefined,
    () => undefined,
  );
  return await Promise.race([asked, over]);
}

interface HookRun {
  readonly container: Container;
  readonly run: RunningContainer;
  readonly wire: string;
  readonly timeoutMs: number;
}

/** Hooks of processes take real time, those of simulated containers lab time. */
const hookFacts = ({ clock, real, addresses }: PodParts, hook: HookRun) => ({
  ...hook,
  clock: hook.run.isSimulated ? clock : real,
  target: (to: { readonly host: string; readonly port: number }) => addresses.target(to),
});
