import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import { EVERYTHING, type LabelSelector, labelSelectorOf } from '../../object/label-selector.ts';
import { compileMatchConditions, type MatchConditions } from '../cel/match-conditions.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import type { Entry, Store } from '../store/store.ts';

export interface HookRule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
}

/** One webhook of a configuration, ready to be matched and called. */
export interface Hook {
  /** Tells webhooks of one name apart. */
  readonly id: string;
  readonly name: string;
  readonly clientConfig: JsonObject;
  readonly rules: readonly HookRule[];
  /** Other versions of the resource match as well. */
  readonly isEquivalent: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly conditions: MatchConditions | undefined;
  /** What cannot be asked does not count (failurePolicy Ignore). */
  readonly isOptional: boolean;
  readonly timeoutMs: number;
  readonly hasNoEffectsOnDryRun: boolean;
  readonly reviewVersions: readonly string[];
  readonly isReinvocable: boolean;
}

export type HookKind = 'mutating' | 'validating';

const DEFAULT_SECONDS = 10;

/** All webhooks of one kind, by name of the configuration, then in its order (V2). A change counts at once (V7). */
export class HookIndex implements Disposable {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #subscription: Disposable;
  /** Conditions are compiled once per state of a configuration. */
  readonly #known = new WeakMap<Entry, readonly Hook[]>();
  #hooks: readonly Hook[] | undefined;

  constructor(store: Store, kind: HookKind) {
    this.#store = store;
    this.#prefix = `/registry/admissionregistration.k8s.io/${kind}webhookconfigurations/`;
    this.#subscription = store.subscribe(this.#prefix, () => {
      this.#hooks = undefined;
    });
  }

  get hooks(): readonly Hook[] {
    // Keys are sorted, so configurations are.
    this.#hooks ??= [...this.#store.list(this.#prefix)].flatMap((entry) => this.#hooksOf(entry));
    return this.#hooks;
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #hooksOf(entry: Entry): readonly Hook[] {
    const known = this.#known.get(entry);
    if (known !== undefined) return known;
    const { value } = parseJsonBytes(entry.bytes);
    const hooks = isJsonObject(value) ? hooksOf(value) : [];
    this.#known.set(entry, hooks);
    return hooks;
  }
}

function hooksOf(configuration: JsonObject): readonly Hook[] {
  const name = textOf(metadataOf(configuration)['name']);
  return objects(configuration['webhooks']).map((webhook, index) => hookOf(webhook, `${name}/${index}`));
}

function hookOf(webhook: JsonObject, id: string): Hook {
  const conditions = objects(webhook['matchConditions']).map((condition) => ({
    name: textOf(condition['name']),
    expression: textOf(condition['expression']),
  }));
  const effects = textOf(webhook['sideEffects']);
  return {
    id,
    name: textOf(webhook['name']),
    clientConfig: isJsonObject(webhook['clientConfig']) ? webhook['clientConfig'] : {},
    rules: objects(webhook['rules']).map(ruleOf),
    isEquivalent: webhook['matchPolicy'] !== 'Exact',
    namespaceSelector: selectorOf(webhook['namespaceSelector']),
    objectSelector: selectorOf(webhook['objectSelector']),
    conditions: conditions.length === 0 ? undefined : compileMatchConditions(conditions),
    isOptional: webhook['failurePolicy'] === 'Ignore',
    timeoutMs: Number(webhook['timeoutSeconds'] ?? DEFAULT_SECONDS) * 1000,
    hasNoEffectsOnDryRun: effects === 'None' || effects === 'NoneOnDryRun',
    reviewVersions: texts(webhook['admissionReviewVersions']),
    isReinvocable: webhook['reinvocationPolicy'] === 'IfNeeded',
  };
}

const ruleOf = (rule: JsonObject): HookRule => ({
  operations: texts(rule['operations']),
  apiGroups: texts(rule['apiGroups']),
  apiVersions: texts(rule['apiVersions']),
  resources: texts(rule['resources']),
  scope: textOf(rule['scope']) || '*',
});

const selectorOf = (selector: Json | undefined): LabelSelector =>
  isJsonObject(selector) ? labelSelectorOf(selector) : EVERYTHING;

const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

const texts = (value: Json | undefined): readonly string[] => (Array.isArray(value) ? value.map(textOf) : []);
