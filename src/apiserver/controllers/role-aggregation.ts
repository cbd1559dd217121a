import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../../object/json.ts';
import { labelSelectorOf, matchesLabels } from '../../object/label-selector.ts';
import { metadataOf } from '../request.ts';
import { labelsOf } from '../rest/codec.ts';
import { textOf } from '../rest/object-meta.ts';
import type { ControllerServices } from './controllers.ts';
import { SelfRequests } from './self-requests.ts';
import { parseEntry, placeOf, StoredObjects } from './stored-objects.ts';
import { WorkQueue } from './work-queue.ts';

const ROLES = '/registry/rbac.authorization.k8s.io/clusterroles/';
const PATH = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const MANAGER = 'clusterrole-aggregation-controller';

/** Puts the rules of other ClusterRoles into those that select them by label: admin, edit and view live by it. */
export class RoleAggregation implements AsyncDisposable {
  readonly #services: ControllerServices;
  readonly #requests: SelfRequests;
  readonly #objects: StoredObjects;
  readonly #queue: WorkQueue;
  readonly #subscription: Disposable;
  /** Roles that select others. */
  readonly #aggregated = new Set<string>();

  constructor(services: ControllerServices) {
    const { store, registry, codec, clock, log, transport } = services;
    this.#services = services;
    this.#requests = new SelfRequests(transport, MANAGER);
    this.#objects = new StoredObjects(registry, codec);
    this.#queue = new WorkQueue({ name: 'roles', clock, log, work: (name) => this.#sync(name) });
    this.#subscription = store.subscribe(ROLES, ({ key, entry, isRemoval }) => {
      this.#note(key, isRemoval ? {} : parseEntry(entry));
      this.#syncAll();
    });
    for (const entry of store.list(ROLES)) this.#note(entry.key, parseEntry(entry));
    this.#syncAll();
  }

  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    await this.#queue[Symbol.asyncDispose]();
  }

  #note(key: string, role: JsonObject): void {
    const name = key.slice(ROLES.length);
    if (isJsonObject(role['aggregationRule'])) this.#aggregated.add(name);
    else this.#aggregated.delete(name);
  }

  /** There are few of them, and any role may be selected by any other. */
  #syncAll(): void {
    for (const name of this.#aggregated) this.#queue.add(name);
  }

  async #sync(name: string): Promise<void> {
    const roles = this.#roles();
    const role = roles.find((candidate) => nameOf(candidate) === name);
    if (role === undefined || !isJsonObject(role['aggregationRule'])) return;
    const others = roles.filter((candidate) => candidate !== role);
    const rules = aggregatedRules(role['aggregationRule'], others);
    if (jsonEqual(rules, rulesOf(role).map(normalized))) return;
    await this.#requests.apply(`${PATH}/${encodeURIComponent(name)}?fieldManager=${MANAGER}&force=true`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      ...(rules.length > 0 && { rules }),
    });
  }

  #roles(): readonly JsonObject[] {
    return [...this.#services.store.list(ROLES)].map((entry) =>
      this.#objects.read(entry, this.#objects.resource(placeOf(entry.key)?.prefix ?? '')),
    );
  }
}

/** In the order of the selectors, then of names; a rule that is there already is not said again. */
export function aggregatedRules(aggregationRule: JsonObject, roles: readonly JsonObject[]): Json[] {
  const selectors = aggregationRule['clusterRoleSelectors'];
  const sorted = roles.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const selected = (Array.isArray(selectors) ? selectors : []).flatMap((raw) => {
    const selector = labelSelectorOf(raw);
    return sorted.filter((role) => matchesLabels(selector, labelsOf(role)));
  });
  const result: Json[] = [];
  for (const rule of selected.flatMap(rulesOf).map(normalized)) {
    if (!result.some((known) => jsonEqual(known, rule))) result.push(rule);
  }
  return result;
}

const nameOf = (role: JsonObject): string => textOf(metadataOf(role)['name']);

const rulesOf = ({ rules }: JsonObject): readonly JsonObject[] =>
  Array.isArray(rules) ? rules.filter(isJsonObject) : [];

/** Empty lists mean the same as missing ones. */
const normalized = (rule: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(rule).filter(([, value]) => !(Array.isArray(value) && value.length === 0)));
