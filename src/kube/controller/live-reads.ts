import type { KubeClient, Reader } from '../client/kube-client.ts';

/** The same client, whose reads ask the server: for a reconcile that may not trust the cache (16.2). */
export function readingLive(client: KubeClient): KubeClient {
  const { live } = client;
  const reads: Reader & Pick<KubeClient, 'as'> = {
    get: (kind, key, options) => live.get(kind, key, options),
    find: (kind, key, options) => live.find(kind, key, options),
    list: (kind, options) => live.list(kind, options),
    as: (fieldManager) => readingLive(client.as(fieldManager)),
  };
  return new Proxy(client, {
    get: (target, name) => {
      if (Object.hasOwn(reads, name)) return Reflect.get(reads, name);
      const member: unknown = Reflect.get(target, name);
      // Methods may use private fields, which a proxy does not have.
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
