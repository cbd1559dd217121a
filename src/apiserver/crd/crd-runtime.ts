import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { isJsonObject, type JsonObject, jsonEqual } from '../../object/json.ts';
import { parseJsonBytes, stringifyJson } from '../../object/json-text.ts';
import type { Transport } from '../http/in-process.ts';
import type { Registry } from '../registry/registry.ts';
import { metadataOf } from '../request.ts';
import type { Codec } from '../rest/codec.ts';
import { textOf } from '../rest/object-meta.ts';
import type { Store, StoreEvent } from '../store/store.ts';
import { customResources } from './custom-resource.ts';
import { type Conversion, type Definition, definitionOf, isConditionTrue, objectAt } from './definition.ts';
import { establishedStatus, namingStatus, type UsedNames, usedNames } from './names.ts';

export const CRD_PREFIX = '/registry/apiextensions.k8s.io/customresourcedefinitions/';
const CRD_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export interface CrdRuntimeOptions {
  readonly store: Store;
  readonly registry: Registry;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly log: Log;
  /** As the server itself: writes the conditions. */
  readonly transport: Transport;
}

/** Serves custom resources as their definitions come, change and go (§15.1); the newest state decides, not the event. */
export class CrdRuntime implements Disposable {
  readonly #options: CrdRuntimeOptions;
  readonly #definitions = new Map<string, JsonObject>();
  readonly #subscription: Disposable;
  readonly #settling = new Set<string>();
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: CrdRuntimeOptions) {
    this.#options = options;
    for (const entry of options.store.list(CRD_PREFIX)) this.#changed(parse(entry.bytes));
    this.#subscription = options.store.subscribe(CRD_PREFIX, (event) => this.#event(event));
  }

  /** How objects of a definition are converted; by its name. */
  conversionOf(name: string): Conversion | undefined {
    const crd = this.#definitions.get(name);
    return crd === undefined ? undefined : definitionOf(crd).conversion;
  }

  definition(name: string): Definition | undefined {
    const crd = this.#definitions.get(name);
    return crd === undefined ? undefined : definitionOf(crd);
  }

  /** Resolves when every condition that is due is written. */
  async settled(): Promise<void> {
    while (this.#settling.size > 0) await this.#work;
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    this.#subscription[Symbol.dispose]();
  }

  #event({ isRemoval, entry, key }: StoreEvent): void {
    if (isRemoval) {
      const name = key.slice(CRD_PREFIX.length);
      this.#definitions.delete(name);
      this.#options.registry.setCustom(name, []);
      // Names that were taken may be free now.
      for (const other of this.#definitions.keys()) this.#settle(other);
      return;
    }
    this.#changed(parse(entry.bytes));
  }

  #changed(crd: JsonObject): void {
    const name = textOf(metadataOf(crd)['name']);
    const before = this.#definitions.get(name);
    this.#definitions.set(name, crd);
    if (isConditionTrue(definitionOf(crd), 'Established')) {
      if (before === undefined || servedForm(before) !== servedForm(crd) || !isSameForm(before, crd))
        this.#serve(name, crd);
    } else if (before !== undefined) {
      this.#options.registry.setCustom(name, []);
    }
    this.#settle(name);
  }

  #serve(name: string, crd: JsonObject): void {
    const { registry, codec, store } = this.#options;
    const resources = customResources(crd);
    // What is stored by now was written under another schema, or by an earlier process: defaults are added on reading.
    for (const resource of resources) codec.servedSince(resource, store.revision + 1);
    registry.setCustom(name, resources);
  }

  /** Writes the next condition, one at a time, until nothing is left to say (X3, X4). */
  #settle(name: string): void {
    if (this.#settling.has(name)) return;
    this.#settling.add(name);
    this.#work = this.#work
      .then(() => this.#writeConditions(name))
      .catch((error: unknown) =>
        this.#options.log.error({ err: error, crd: name }, 'Conditions could not be written'),
      )
      .finally(() => this.#settling.delete(name));
  }

  async #writeConditions(name: string): Promise<void> {
    const { clock } = this.#options;
    // Two conditions, and a few lost races with others who write the object.
    for (let attempt = 0; attempt < 10 && !this.#isStopped; attempt++) {
      const crd = this.#definitions.get(name);
      if (crd === undefined) return;
      const status = namingStatus(crd, this.#usedNames(name), clock.now()) ?? establishedStatus(crd, clock.now());
      if (status === undefined) return;
      await this.#writeStatus(name, crd, status);
    }
  }

  async #writeStatus(name: string, crd: JsonObject, status: JsonObject): Promise<void> {
    const body = { ...crd, kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1', status };
    const answer = await this.#options.transport({
      method: 'PUT',
      target: `${CRD_PATH}/${name}/status`,
      headers: { 'content-type': 'application/json', 'user-agent': 'kube-apiserver' },
      body: stringifyJson(body),
    });
    // 404: it is gone; 409: somebody else wrote it, and the next attempt sees that.
    if (answer.status !== 200 && answer.status !== 404 && answer.status !== 409) {
      throw new Error(`${answer.status} ${Buffer.from(await answer.bytes()).toString('utf8')}`);
    }
  }

  #usedNames(name: string): UsedNames {
    const crd = this.#definitions.get(name);
    const group = crd === undefined ? '' : definitionOf(crd).group;
    const others = [...this.#definitions]
      .filter(([other]) => other !== name)
      .map(([, other]) => definitionOf(other));
    return usedNames(group, others, this.#builtinNames(group));
  }

  #builtinNames(group: string): UsedNames {
    const own = this.#options.registry.all().filter((resource) => !resource.isCustom && resource.group === group);
    return {
      resources: new Set(own.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames])),
      kinds: new Set(own.flatMap(({ kind, listKind }) => [kind, listKind])),
    };
  }
}

function parse(bytes: Uint8Array): JsonObject {
  const { value } = parseJsonBytes(bytes);
  return isJsonObject(value) ? value : {};
}

/** Whether it is served at all. */
const servedForm = (crd: JsonObject): boolean => isConditionTrue(definitionOf(crd), 'Established');

/** A status that changes nothing about what is served must not end open watches (T13). */
const isSameForm = (a: JsonObject, b: JsonObject): boolean =>
  jsonEqual(a['spec'], b['spec']) &&
  jsonEqual(objectAt(a, 'status')['acceptedNames'], objectAt(b, 'status')['acceptedNames']);
