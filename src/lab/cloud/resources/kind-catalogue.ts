import { terminalError, userError } from '../../../base/errors.ts';
import { nearestWord } from '../../../object/nearest-word.ts';
import type { DefinedKind } from './resource-kind.ts';
import type { ResourceRecord } from './resource-record.ts';

export interface KindSettings {
  /** By quota. */
  readonly quotas?: Readonly<Record<string, number>>;
  /** For all transitions, or by `<plural>.<state>`, in lab milliseconds; a way out of `error` takes at least a second. */
  readonly durations?: number | Readonly<Record<string, number>>;
  /** For all kinds, or by plural, in lab milliseconds. */
  readonly consistencyMs?: number | Readonly<Record<string, number>>;
}

/** What fails again and again at the same moment would never let it end, so `error` takes time whatever the settings say. */
const SHORTEST_RETRY_MS = 1000;

/** The kinds of one cloud, with what its scenario says about them. */
export class KindCatalogue {
  readonly #kinds = new Map<string, DefinedKind>();
  readonly #settings: KindSettings;

  constructor(settings: KindSettings) {
    this.#settings = settings;
  }

  add(kind: DefinedKind): void {
    if (this.#kinds.has(kind.plural)) throw terminalError('KindDefinition', `there are two kinds ${kind.plural}`);
    this.#kinds.set(kind.plural, kind);
  }

  get all(): readonly DefinedKind[] {
    return [...this.#kinds.values()];
  }

  get(plural: string): DefinedKind | undefined {
    return this.#kinds.get(plural);
  }

  demand(plural: string): DefinedKind {
    const kind = this.#kinds.get(plural);
    if (kind === undefined) throw terminalError('KindDefinition', `there is no kind ${plural}`);
    return kind;
  }

  /** Throws when a setting names something that no kind knows: it would have no effect. */
  checkSettings(): void {
    const { quotas = {}, durations = 0, consistencyMs = 0 } = this.#settings;
    const states = this.all.flatMap(({ plural, transitions = {} }) =>
      Object.keys(transitions).map((state) => `${plural}.${state}`),
    );
    requireKnown('quotas', quotas, this.quotaNames);
    requireKnown('durations', durations, states);
    requireKnown('consistencyMs', consistencyMs, [...this.#kinds.keys()]);
  }

  get quotaNames(): readonly string[] {
    return [...new Set(this.all.flatMap(({ quotas = {} }) => Object.keys(quotas)))];
  }

  quotaLimit(quota: string): number {
    const usual = this.all.map(({ quotas }) => quotas?.[quota]).find((limit) => limit !== undefined);
    return this.#settings.quotas?.[quota] ?? usual ?? Number.POSITIVE_INFINITY;
  }

  /** How long the state of an object lasts; undefined for one that does not end by itself. */
  durationMs(record: ResourceRecord): number | undefined {
    const { kind, state } = record;
    const transition = this.#kinds.get(kind)?.transitions?.[state];
    if (transition === undefined || transition.applies?.(record) === false) return undefined;
    const { durations } = this.#settings;
    const given = typeof durations === 'number' ? durations : durations?.[`${kind}.${state}`];
    if (given === undefined) return transition.durationMs;
    return state === 'error' ? Math.max(given, SHORTEST_RETRY_MS) : given;
  }

  /** How far reads of a kind lag behind (C7). */
  windowMs(plural: string): number {
    const { consistencyMs = 0 } = this.#settings;
    return typeof consistencyMs === 'number' ? consistencyMs : (consistencyMs[plural] ?? 0);
  }

  get longestWindowMs(): number {
    const { consistencyMs = 0 } = this.#settings;
    return typeof consistencyMs === 'number' ? consistencyMs : Math.max(0, ...Object.values(consistencyMs));
  }
}

/** How much of each quota an object takes; one of each unless its kind says otherwise. */
export function usageOf(kind: DefinedKind, record: ResourceRecord): Readonly<Record<string, number>> {
  if (kind.usage !== undefined) return kind.usage(record);
  return Object.fromEntries(Object.keys(kind.quotas ?? {}).map((quota) => [quota, 1]));
}

function requireKnown(setting: string, given: number | object, known: readonly string[]): void {
  if (typeof given === 'number') return;
  const stranger = Object.keys(given).find((key) => !known.includes(key));
  if (stranger === undefined) return;
  const meant = nearestWord(stranger, known);
  const hint = meant === undefined ? `known are ${known.toSorted().join(', ')}` : `did you mean ${meant}?`;
  throw userError('InvalidCloudOptions', `cloud: ${setting} does not know "${stranger}": ${hint}`);
}
