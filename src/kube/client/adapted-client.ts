import type { Kind, ObjectKey } from '../../api/object.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';
import type {
  ApplyOptions,
  DeleteOptions,
  KubeClient,
  LiveReader,
  Reader,
  SpecialVerbs,
  SubresourceClient,
  WriteOptions,
  Writer,
} from './kube-client.ts';

/** How a client around a client changes what it is asked for. Everything that is not told stays. */
export interface Adaptation {
  key?(kind: Kind, key: ObjectKey): ObjectKey;
  /** The namespace of a list or watch. */
  namespace?(kind: Kind, namespace: string | undefined): string | undefined;
  /** What is created, updated or applied. */
  object?<O>(kind: Kind, object: O): O;
  write?<O extends WriteOptions>(options: O): O;
  remove?<O extends DeleteOptions>(options: O): O;
  /** May refuse by throwing: paths know neither namespaces nor dry runs. */
  raw?(path: string, method: string): void;
  /** May refuse by throwing. */
  token?(): void;
}

type Complete = Required<Adaptation>;

const UNCHANGED: Complete = {
  key: (_kind, key) => key,
  namespace: (_kind, namespace) => namespace,
  object: (_kind, object) => object,
  write: (options) => options,
  remove: (options) => options,
  raw: () => {},
  token: () => {},
};

/** A client that asks another one, adapted. */
export function adaptedClient(client: KubeClient, adaptation: Adaptation): KubeClient {
  const adapt: Complete = { ...UNCHANGED, ...adaptation };
  const live: LiveReader = {
    ...adaptedReader(client.live, adapt),
    listAll: (kind, options) => client.live.listAll(kind, inNamespace(adapt, kind, options)),
    watch: (kind, options) => client.live.watch(kind, inNamespace(adapt, kind, options)),
    watchBatches: (kind, options) => client.live.watchBatches(kind, inNamespace(adapt, kind, options)),
  };
  return {
    fieldManager: client.fieldManager,
    live,
    ...adaptedReader(client, adapt),
    ...adaptedWriter(client, adapt, live),
    ...adaptedVerbs(client, adapt),
    as: (fieldManager) => adaptedClient(client.as(fieldManager), adaptation),
  };
}

const adaptedReader = (reader: Reader, adapt: Complete): Reader => ({
  get: async (kind, key, options) => reader.get(kind, adapt.key(kind, key), options),
  find: async (kind, key, options) => reader.find(kind, adapt.key(kind, key), options),
  list: async (kind, options) => reader.list(kind, inNamespace(adapt, kind, options)),
});

function inNamespace<O extends { readonly namespace?: string }>(
  adapt: Complete,
  kind: Kind,
  options: O | undefined,
): O {
  const { namespace: given, ...rest } = options ?? {};
  const namespace = adapt.namespace(kind, given);
  return { ...rest, ...(namespace !== undefined && { namespace }) } as O;
}

function adaptedWriter(client: KubeClient, adapt: Complete, live: LiveReader): Writer {
  const patch: Writer['patch'] = async (kind, key, body, options = {}) =>
    client.patch(kind, adapt.key(kind, key), body, adapt.write(options));
  const result: Writer = {
    create: async (kind, object, options = {}) =>
      client.create(kind, adapt.object(kind, object), adapt.write(options)),
    update: async (kind, object, options = {}) =>
      client.update(kind, adapt.object(kind, object), adapt.write(options)),
    updateStatus: async (kind, object, options = {}) =>
      client.updateStatus(kind, adapt.object(kind, object), adapt.write(options)),
    patch,
    apply: async (kind, config, options: ApplyOptions = {}) =>
      client.apply(kind, adapt.object(kind, config), adapt.write(options)),
    applyStatus: async (kind, config, options: ApplyOptions = {}) =>
      client.applyStatus(kind, adapt.object(kind, config), adapt.write(options)),
    delete: async (kind, key, options = {}) => client.delete(kind, adapt.key(kind, key), adapt.remove(options)),
    deleteAllOf: async (kind, options) =>
      client.deleteAllOf(kind, inNamespace(adapt, kind, adapt.remove(options))),
    // Through the adapted patch: a dry run must not write them either.
    addFinalizer: (kind, object, finalizer) => addFinalizer({ patch, live }, kind, object, finalizer),
    removeFinalizer: (kind, object, finalizer) => removeFinalizer({ patch, live }, kind, object, finalizer),
  };
  return result;
}

function adaptedVerbs(client: KubeClient, adapt: Complete): SpecialVerbs {
  const adaptedSubresource = (name: string): SubresourceClient => {
    const inner = client.subresource(name);
    return {
      get: async (kind, key, options) => inner.get(kind, adapt.key(kind, key), options),
      create: async (kind, key, body, options = {}) =>
        inner.create(kind, adapt.key(kind, key), body, adapt.write(options)),
      update: async (kind, key, body, options = {}) =>
        inner.update(kind, adapt.key(kind, key), body, adapt.write(options)),
      patch: async (kind, key, patch, options = {}) =>
        inner.patch(kind, adapt.key(kind, key), patch, adapt.write(options)),
    };
  };
  return {
    subresource: adaptedSubresource,
    scale: async (kind, key, replicas, options = {}) =>
      client.scale(kind, adapt.key(kind, key), replicas, adapt.write(options)),
    evict: async (key, options = {}) => client.evict(adapt.key(NAMESPACED, key), adapt.remove(options)),
    createToken: async (key, options) => {
      adapt.token();
      return client.createToken(adapt.key(NAMESPACED, key), options);
    },
    raw: async (path, options = {}) => {
      adapt.raw(path, options.method ?? 'GET');
      return client.raw(path, options);
    },
  };
}

/** Pods and ServiceAccounts live in namespaces. */
const NAMESPACED: Kind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' };
