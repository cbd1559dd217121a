import { ConfigMap, Namespace, ServiceAccount } from '../../../api/generated/core-v1.ts';
import type { KubeObject } from '../../../api/object.ts';
import { isAlreadyExists, isNotFound } from '../../../kube/client/api-error.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { isNamespaceTerminating } from '../pods/pod-writes.ts';

const ACCOUNT = 'default';
const AUTHORITY = 'kube-root-ca.crt';
const AUTHORITY_KEY = 'ca.crt';
const ABOUT = {
  'kubernetes.io/description':
    'The authority by which clients inside the cluster check the certificate of the API server.',
};

/** The namespace of an object with this name; nobody's, when it is called otherwise. */
const namespaceOf =
  (name: string): MapFunction<KubeObject> =>
  ({ metadata }) =>
    metadata.name === name ? [{ name: metadata.namespace }] : [];

/** What is going gets nothing new (W39). */
const isActive = ({ metadata, status }: Namespace): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Terminating';

/** Makes something that pods rely on. Somebody else may be quicker: the embedded API server does the same. */
async function ensure(creation: Promise<KubeObject>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isAlreadyExists(error) && !isNamespaceTerminating(error) && !isNotFound(error)) throw error;
  }
}

/** Stands in for the controller of Kubernetes that gives each namespace its account `default` (W39). */
export const serviceAccountController = (): Controller =>
  controllerFor(Namespace, { name: 'service-account' })
    .watches(ServiceAccount, namespaceOf(ACCOUNT))
    .needs(needs(ServiceAccount, ['create']))
    .reconcile({
      async reconcile(namespace, { client, signal }): Promise<Result> {
        const key = { namespace: namespace.metadata.name, name: ACCOUNT };
        if (!isActive(namespace) || (await client.find(ServiceAccount, key, { signal })) !== undefined)
          return DONE;
        await ensure(client.create(ServiceAccount, { metadata: key }, { signal }));
        return DONE;
      },
    });

export interface RootAuthorityOptions {
  /** By which clients inside the cluster check the certificate of the API server. */
  readonly authorityPem: string;
}

/** Stands in for the controller of Kubernetes that publishes its authority in each namespace (W39). */
export const rootAuthorityController = ({ authorityPem }: RootAuthorityOptions): Controller =>
  controllerFor(Namespace, { name: 'root-authority' })
    .watches(ConfigMap, namespaceOf(AUTHORITY))
    .needs(needs(ConfigMap, ['create', 'update']))
    .reconcile({
      async reconcile(namespace, context): Promise<Result> {
        if (isActive(namespace)) await ensureAuthority(namespace.metadata.name, authorityPem, context);
        return DONE;
      },
    });

async function ensureAuthority(
  namespace: string,
  authorityPem: string,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const key = { namespace, name: AUTHORITY };
  const data = { [AUTHORITY_KEY]: authorityPem };
  const found = await client.find(ConfigMap, key, { signal });
  if (found === undefined) {
    return ensure(client.create(ConfigMap, { metadata: { ...key, annotations: ABOUT }, data }, { signal }));
  }
  const isLeaving = found.metadata.deletionTimestamp !== undefined;
  if (isLeaving || holdsOnly(found, authorityPem)) return;
  await client.update(ConfigMap, { ...found, data }, { signal });
}

const holdsOnly = ({ data = {} }: ConfigMap, authorityPem: string): boolean =>
  data[AUTHORITY_KEY] === authorityPem && Object.keys(data).length === 1;
