import type { Kind } from '../../api/object.ts';
import { terminalError, userError } from '../../base/errors.ts';
import { isJsonObject } from '../../object/json.ts';
import { adaptedClient } from './adapted-client.ts';
import type { KubeClient } from './kube-client.ts';
import { keyIn } from './resource-path.ts';

/**
 * A client whose writes are checked by the server and not stored. Raw writes and tokens have no dry run: they are
 * refused with DryRun.
 */
export const dryRunClient = (client: KubeClient): KubeClient =>
  adaptedClient(client, {
    write: (options) => ({ ...options, dryRun: true }),
    remove: (options) => ({ ...options, dryRun: true }),
    raw: (path, method) => {
      if (method !== 'GET' && method !== 'HEAD') throw refused(`${method} ${path.split('?')[0]}`);
    },
    token: () => {
      throw refused('the creation of a token');
    },
  });

const refused = (what: string): Error => terminalError('DryRun', `${what} cannot be tried without doing it`);

/**
 * A client that works in one namespace: reads, lists and writes of namespaced kinds go there without naming it, and
 * naming another one is refused with OtherNamespace. Cluster-scoped kinds stay as they are; raw paths are refused.
 */
export function namespacedClient(client: KubeClient, namespace: string): KubeClient {
  const checked = ({ kind, scope }: Kind, given: string | undefined): string | undefined => {
    if (scope === 'Cluster') return given;
    if (given === undefined || given === '' || given === namespace) return namespace;
    const message = `a ${kind} in namespace ${given} is out of reach of this client, which works in ${namespace}`;
    throw userError('OtherNamespace', message);
  };
  return adaptedClient(client, {
    key: (kind, key) => {
      const found = checked(kind, key.namespace);
      return found === undefined ? { name: key.name } : { namespace: found, name: key.name };
    },
    namespace: checked,
    object: (kind, object) => {
      const found = checked(kind, keyIn(object).namespace);
      if (found === undefined) return object;
      const { metadata } = Object(object) as { readonly metadata?: unknown };
      return { ...object, metadata: { ...(isJsonObject(metadata) && metadata), namespace: found } };
    },
    raw: (path) => {
      throw userError(
        'OtherNamespace',
        `${path.split('?')[0]} names no namespace; use the client that this one is made of`,
      );
    },
  });
}

/** A client whose writes fail on fields that their kind does not have, unless a call says otherwise. */
export const strictClient = (client: KubeClient): KubeClient =>
  adaptedClient(client, { write: (options) => ({ fieldValidation: 'Strict', ...options }) });
