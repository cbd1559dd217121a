import type { Container, Probe } from '../../../api/generated/core-v1-types.ts';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

/** What one probe found out. A warning is a success that somebody should look at. */
export interface ProbeOutcome {
  readonly result: 'success' | 'warning' | 'failure';
  readonly message: string;
}

/** A probe as it is meant: every field that matters has its default (N19). */
export interface ProbeRule {
  readonly kind: ProbeKind;
  readonly probe: Probe;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly initialDelayMs: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

const SECOND_MS = 1000;

/** Zero counts as absent, as everywhere in the API. */
const orDefault = (value: number | undefined, byDefault: number): number =>
  value === undefined || value <= 0 ? byDefault : value;

/** Pure: the rule of a container's probe, undefined when it has none. */
export function probeRule(container: Container, kind: ProbeKind): ProbeRule | undefined {
  const probe = container[`${kind}Probe`];
  if (probe === undefined) return undefined;
  return {
    kind,
    probe,
    periodMs: orDefault(probe.periodSeconds, 10) * SECOND_MS,
    timeoutMs: orDefault(probe.timeoutSeconds, 1) * SECOND_MS,
    initialDelayMs: orDefault(probe.initialDelaySeconds, 0) * SECOND_MS,
    successThreshold: orDefault(probe.successThreshold, 1),
    failureThreshold: orDefault(probe.failureThreshold, 3),
  };
}

/** What a series of outcomes has come to. */
export interface ProbeTrack {
  /** What counts: it changes only after enough equal outcomes in a row (N20). */
  readonly result: 'success' | 'failure' | 'unknown';
  readonly last: 'success' | 'failure' | undefined;
  /** How many equal ones in a row. */
  readonly run: number;
  /** It has nothing more to find out about this run of the container. */
  readonly isOver: boolean;
}

/** Pure: what is taken for true before anything was probed (N19). */
export const initialTrack = (kind: ProbeKind): ProbeTrack => ({
  result: ({ readiness: 'failure', liveness: 'success', startup: 'unknown' } as const)[kind],
  last: undefined,
  run: 0,
  isOver: false,
});

/** Pure: the track after one more outcome (N20). */
export function nextTrack(track: ProbeTrack, rule: ProbeRule, { result }: ProbeOutcome): ProbeTrack {
  const last = result === 'failure' ? 'failure' : 'success';
  const run = track.last === last ? track.run + 1 : 1;
  const threshold = last === 'failure' ? rule.failureThreshold : rule.successThreshold;
  if (run < threshold) return { ...track, last, run };
  // A container that is to be killed is left alone, and one that has started has not to start again.
  const isOver = rule.kind === 'startup' || (rule.kind === 'liveness' && last === 'failure');
  return { result: last, last, run, isOver };
}

/** Pure: whether the container must be killed for it (N20). */
export const isFatal = ({ result, isOver }: ProbeTrack): boolean => isOver && result === 'failure';

const TITLES: Readonly<Record<ProbeKind, string>> = {
  startup: 'Startup',
  liveness: 'Liveness',
  readiness: 'Readiness',
};

/** Pure: the messages of events (N22). */
export const failureMessage = (kind: ProbeKind, { message }: ProbeOutcome): string =>
  `${TITLES[kind]} probe failed: ${message}`;
export const warningMessage = (kind: ProbeKind, { message }: ProbeOutcome): string =>
  `${TITLES[kind]} probe warning: ${message}`;
/** Of a probe that could not be made at all. */
export const errorMessage = (kind: ProbeKind, why: string): string =>
  `${TITLES[kind]} probe errored and resulted in unknown state: ${why}`;
