/** State of anything we show; each has a symbol, a word and a colour (experience X6). */
export type Health = 'done' | 'working' | 'waiting' | 'attention' | 'failed' | 'skipped';

/** A Kubernetes object, as short as it can be said. */
export interface Ref {
  readonly g: string;
  readonly v: string;
  readonly k: string;
  readonly ns?: string;
  readonly n: string;
  readonly uid?: string;
}

/** What failed, in the order people need it (experience X10). */
export interface Failure {
  readonly what: string;
  /** The innermost first evidence, not the wrapper. */
  readonly cause: string;
  /** Files and addresses worth opening. */
  readonly look: readonly string[];
  /** Commands to copy; one that ends with a colon says when the one after it works. */
  readonly next: readonly string[];
  /** `SW` and four digits; `slipway explain` knows it. */
  readonly code: string;
}

/** A line below a phase: a host, a machine, a process. The path names its parents: `['control plane', 'cp-0']`. */
export interface ProgressRow {
  readonly path: readonly string[];
  readonly health: Health;
  /** What it is doing, in the words of whoever does it. */
  readonly word: string;
  readonly percent?: number;
  readonly note?: string;
  /** When what it is doing began, RFC 3339, where whoever does it says so; else it is the first time it was told. */
  readonly since?: string;
  /** Only recorded or simulated on this machine (experience X24). */
  readonly simulated?: boolean;
}

/** One of the phases, whether or not this version can run it. */
export interface PlannedPhase {
  readonly id: string;
  readonly title: string;
  /** One sentence: what it does for the reader. */
  readonly promise: string;
  /** False when no component of this version has registered it. */
  readonly isRegistered: boolean;
  /** Median of the last runs on this machine, once there were enough (experience X23). */
  readonly typicalMs?: number;
}

/** What is about to happen and on what it runs; travels with the first event. */
export interface JourneyPlan {
  readonly version: string;
  readonly phases: readonly PlannedPhase[];
  /** Versions of Node: the one on the PATH and the one that runs this. */
  readonly node: { readonly found: string; readonly using: string };
  /** What the bootstrap installed just before, if it had to. */
  readonly installed?: { readonly packages: number; readonly ms: number };
  readonly typicalMs?: number;
  /** It ends after the last phase and stops everything, so only what lasts is offered. */
  readonly isOnce: boolean;
  /** The file with every line and every stack trace, as the user would write its path. */
  readonly log: string;
  /** Commands that work today; shown when no phase is registered. */
  readonly commands: readonly { readonly command: string; readonly does: string }[];
}

/** Something to open or export, shown as a `➜` line. */
export interface Address {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
  /** Of use even when everything is stopped, as a file is. */
  readonly isLasting?: boolean;
}

/** One of the things to try: a command to paste, or something to do by hand. */
export interface Suggestion {
  readonly kind: 'command' | 'hint';
  readonly text: string;
  /** Works even when everything is stopped. */
  readonly isLasting?: boolean;
}

/** After the last phase: `standing` = things keep running until the user stops them. */
export type JourneyStage = 'running' | 'ended' | 'standing' | 'stopping' | 'stopped';

/** The phase of events about the whole journey. */
export const WHOLE_JOURNEY = 'journey';

/** The one stream that terminal, JSON lines, page and report are made of (experience D1, 7.2). */
export interface JourneyEvent {
  /** RFC 3339, UTC, milliseconds. */
  readonly ts: string;
  /** Since the start of the journey, on a clock that never jumps: what durations are computed of. */
  readonly atMs: number;
  /** Id of the phase, or {@link WHOLE_JOURNEY}. */
  readonly phase: string;
  readonly kind: 'start' | 'progress' | 'end' | 'warn' | 'error';
  /** One line for people. */
  readonly detail: string;
  readonly percent?: number;
  /** With `end` and `error`: how it ended. */
  readonly health?: Health;
  /** With `progress`: the line below the phase that changed. */
  readonly row?: ProgressRow;
  /** With `progress`: the path of the line below the phase that is no more. */
  readonly removedRow?: readonly string[];
  /** With `progress`: what the phase waits for right now. */
  readonly waitingFor?: string;
  readonly failure?: Failure;
  /** With `end`: how long it took on a clock that never jumps. */
  readonly durationMs?: number;
  /** With `end`: where to look at the result. */
  readonly addresses?: readonly Address[];
  /** With `end`: what the reader can do with the result now. */
  readonly tries?: readonly Suggestion[];
  /** With the `start` of the whole journey. */
  readonly plan?: JourneyPlan;
  /** With events about the whole journey: what it does from now on. */
  readonly stage?: JourneyStage;
  readonly ref?: Ref;
  readonly code?: string;
  readonly next?: string;
}
