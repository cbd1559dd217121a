/** Somebody said at this moment that it leads. */
export interface Claim {
  readonly atMs: number;
  /** One run of a candidate: `ours-1#3` is the third process of `ours-1`. */
  readonly by: string;
}

/** A time in which one process said again and again that it leads. */
export interface Tenure {
  readonly by: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A time in which a process could not run: until it went on, or for ever when it was killed. */
export interface Standstill {
  readonly by: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Overlap {
  readonly first: Tenure;
  readonly second: Tenure;
  readonly ms: number;
}

export interface Handover {
  readonly from: string;
  readonly to: string;
  readonly ms: number;
}

/** A leader claims every 5 ms: after a silence of this length it is another tenure. */
const SILENCE_MS = 1000;
/** Clocks that count whole milliseconds make a claim up to this much older than it is. */
const CLOCK_ERROR_MS = 1;
/** Whoever has claimed so recently was leading. */
const RECENT_MS = 100;

const LINE = /^(?<micros>\d+) (?<by>\S+)$/;

/** Lines `<unix microseconds> <identity>`, in order of time. Throws at a line that is none: claims are written whole. */
export function parseClaims(text: string): readonly Claim[] {
  const lines = text.split('\n').filter((line) => line !== '');
  const claims = lines.map((line) => {
    const { micros, by } = LINE.exec(line)?.groups ?? {};
    if (micros === undefined || by === undefined) throw new Error(`"${line}" is no claim`);
    return { atMs: Number(micros) / 1000, by };
  });
  return claims.sort((a, b) => a.atMs - b.atMs);
}

/** In order of their beginning. `claims` are in order of time. */
export function tenuresOf(claims: readonly Claim[]): readonly Tenure[] {
  const open = new Map<string, Tenure>();
  const ended: Tenure[] = [];
  for (const { by, atMs } of claims) {
    const tenure = open.get(by);
    const goesOn = tenure !== undefined && atMs - tenure.toMs <= SILENCE_MS;
    if (tenure !== undefined && !goesOn) ended.push(tenure);
    open.set(by, { by, fromMs: goesOn ? tenure.fromMs : atMs, toMs: atMs });
  }
  return [...ended, ...open.values()].sort((a, b) => a.fromMs - b.fromMs);
}

/** Two leaders at a time: a claim inside the tenure of another, a single one included, by more than the clocks err. */
export function overlapsOf(tenures: readonly Tenure[]): readonly Overlap[] {
  return tenures.flatMap((first, index) =>
    tenures
      .slice(index + 1)
      .map((second) => ({
        first,
        second,
        ms: Math.min(first.toMs, second.toMs) - Math.max(first.fromMs, second.fromMs),
      }))
      .filter(({ second }) => second.by !== first.by && isInside(first, second) && isInside(second, first)),
  );
}

const isInside = (one: Tenure, other: Tenure): boolean => one.fromMs + CLOCK_ERROR_MS < other.toMs;

/** How long a former leader may run without knowing it, and how soon after its last sign of life another may lead at the earliest. */
export interface Excuse {
  readonly windowMs: number;
  readonly leastMs: number;
}

/**
 * Takes out claims that a process made within `windowMs` of its own time after it had stood still and lost the lease:
 * somebody else has led since, who had come no sooner than the lease can have ended, and may have been stopped again.
 * Only for candidates without a fence, which cannot know better (see the duel). A lease that such a candidate gets back
 * within that time counts from its end only.
 */
export function withoutAftermath(
  claims: readonly Claim[],
  standstills: readonly Standstill[],
  { windowMs, leastMs }: Excuse,
): { readonly sound: readonly Claim[]; readonly aftermath: readonly Claim[] } {
  const tenures = tenuresOf(claims);
  const isLost = ({ by, atMs }: Claim, fromMs: number) =>
    tenures.some((other) => other.by !== by && other.fromMs >= fromMs + leastMs && other.fromMs <= atMs);
  const isAftermath = (claim: Claim) =>
    standstills
      .filter(({ by, toMs }) => by === claim.by && toMs <= claim.atMs)
      .filter(({ toMs }) => claim.atMs - toMs - stoodStillMs(claim, toMs, standstills) <= windowMs)
      .some(({ fromMs }) => isLost(claim, fromMs));
  const aftermath = new Set(claims.filter(isAftermath));
  return { sound: claims.filter((claim) => !aftermath.has(claim)), aftermath: [...aftermath] };
}

/** How long the process of a claim stood still again between `fromMs` and the claim: it learns nothing in that time. */
const stoodStillMs = ({ by, atMs }: Claim, fromMs: number, standstills: readonly Standstill[]): number =>
  standstills
    .filter((still) => still.by === by && still.fromMs >= fromMs && still.toMs <= atMs)
    .reduce((sum, still) => sum + still.toMs - still.fromMs, 0);

export interface EarlyLeader {
  readonly stopped: string;
  readonly next: string;
  readonly afterMs: number;
}

/**
 * Leaders that came sooner after another had stopped dead than `leastMs` says for that one: its lease cannot have ended.
 * Covers what looks innocent otherwise, a leader that was taken over while it could not object.
 */
export function earlyLeaders(
  claims: readonly Claim[],
  standstills: readonly Standstill[],
  leastMs: (stopped: string) => number,
): readonly EarlyLeader[] {
  const tenures = tenuresOf(claims);
  return standstills.flatMap(({ by, fromMs, toMs }) => {
    const untilMs = Math.min(toMs, fromMs + leastMs(by));
    const hasLed = tenures.some(
      (tenure) => tenure.by === by && tenure.fromMs <= fromMs && tenure.toMs >= fromMs - RECENT_MS,
    );
    const next = claims.find((claim) => claim.by !== by && claim.atMs > fromMs && claim.atMs < untilMs);
    return hasLed && next !== undefined ? [{ stopped: by, next: next.by, afterMs: next.atMs - fromMs }] : [];
  });
}

/** Each change of leader with the time in which nobody led. `tenures` do not overlap. */
export function handoversOf(tenures: readonly Tenure[]): readonly Handover[] {
  return tenures.flatMap((next, index) => {
    const last = tenures[index - 1];
    return last === undefined || last.by === next.by
      ? []
      : [{ from: last.by, to: next.by, ms: next.fromMs - last.toMs }];
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}
