import type {
  Container,
  EnvFromSource,
  EnvVarSource,
  ObjectFieldSelector,
  Pod,
} from '../../../api/generated/core-v1-types.ts';
import { messageOf } from '../../../base/errors.ts';
import { ContainerProblem } from '../runtime/container-runtime.ts';
import { ResourceProblem, resourceField } from './container-resources.ts';
import { FIELD_PATHS, podField } from './pod-fields.ts';
import type { StartSources } from './start-sources.ts';

interface Entries {
  /** `configMap ns/name`, for messages. */
  readonly what: string;
  readonly entries: readonly (readonly [key: string, value: string])[];
}

type Values = ReadonlyMap<string, string>;

interface Reference {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly isOptional: boolean;
}

interface KeySelector {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

/** The values that the variables of one container refer to; each object is read once per start. */
export class ValueSources {
  readonly #pod: Pod;
  readonly #container: Container;
  readonly #sources: StartSources;
  readonly #namespace: string;
  /** Bounded by what the container refers to. */
  readonly #read = new Map<string, Values | undefined>();

  constructor(pod: Pod, container: Container, sources: StartSources) {
    this.#pod = pod;
    this.#container = container;
    this.#sources = sources;
    this.#namespace = pod.metadata.namespace ?? 'default';
  }

  /** Undefined when it is optional and not there. Rejects with a ContainerProblem. */
  async of({
    fieldRef,
    resourceFieldRef,
    configMapKeyRef,
    secretKeyRef,
  }: EnvVarSource): Promise<string | undefined> {
    if (fieldRef !== undefined) return this.#field(fieldRef);
    if (configMapKeyRef !== undefined) return this.#key('ConfigMap', configMapKeyRef);
    if (secretKeyRef !== undefined) return this.#key('Secret', secretKeyRef);
    if (resourceFieldRef === undefined) throw problem('valueFrom names no source that the lab knows');
    const { allocatable } = this.#sources.node();
    try {
      return resourceField(resourceFieldRef, { pod: this.#pod, container: this.#container, allocatable });
    } catch (error) {
      throw error instanceof ResourceProblem ? problem(error.message) : error;
    }
  }

  /** Everything in an object, nothing when it is optional and not there. Rejects with a ContainerProblem. */
  async allOf({ configMapRef, secretRef }: EnvFromSource): Promise<Entries> {
    const [kind, reference] =
      configMapRef === undefined ? (['Secret', secretRef] as const) : (['ConfigMap', configMapRef] as const);
    const { name = '', optional: isOptional = false } = reference ?? {};
    const what = `${kind === 'Secret' ? 'secret' : 'configMap'} ${this.#namespace}/${name}`;
    const values = await this.#values({ kind, name, isOptional });
    return { what, entries: [...(values ?? [])] };
  }

  #field({ fieldPath }: ObjectFieldSelector): string {
    const { hostIPs } = this.#sources.node();
    const value = podField(this.#pod, fieldPath, { hostIPs, podIPs: this.#sources.podIPs(this.#pod) });
    if (value !== undefined) return value;
    throw problem(`unsupported fieldPath: ${fieldPath}; allowed are ${FIELD_PATHS.join(', ')}`);
  }

  async #key(kind: Reference['kind'], { name = '', key, optional: isOptional = false }: KeySelector) {
    const values = await this.#values({ kind, name, isOptional });
    const value = values?.get(key);
    if (value !== undefined || isOptional) return value;
    throw problem(`couldn't find key ${key} in ${kind} ${this.#namespace}/${name}`);
  }

  async #values({ kind, name, isOptional }: Reference): Promise<Values | undefined> {
    const id = `${kind}/${name}`;
    const values = this.#read.has(id) ? this.#read.get(id) : await this.#fetched(kind, name);
    this.#read.set(id, values);
    if (values === undefined && !isOptional) throw problem(`${kind.toLowerCase()} "${name}" not found`);
    return values;
  }

  async #fetched(kind: Reference['kind'], name: string): Promise<Values | undefined> {
    const key = { namespace: this.#namespace, name };
    try {
      if (kind === 'ConfigMap') {
        const found = await this.#sources.configMap(key);
        return found && new Map(Object.entries(found.data ?? {}));
      }
      const found = await this.#sources.secret(key);
      return found && new Map(Object.entries(found.data ?? {}).map(([at, value]) => [at, decoded(value)]));
    } catch (error) {
      throw problem(`${kind.toLowerCase()} "${name}" cannot be read: ${messageOf(error)}`);
    }
  }
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');

const problem = (message: string): ContainerProblem => new ContainerProblem('CreateContainerConfigError', message);
