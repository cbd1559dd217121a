import { userError } from '../../base/errors.ts';
import type { Need } from '../../kube/rbac/need.ts';
import { childName } from '../../object/name-hash.ts';
import { dnsLabelProblems } from '../../object/names.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { CONTROLLER_NAMES } from '../program/controller-list.ts';

/** The name that OpenShift replaces images by, and that of the account and of the lease (O6, O7). */
export const PROGRAM = 'cloud-controller-manager';

/** As upstream has it, and as the registry of host ports has it. */
export const DEFAULT_SECURE_PORT = 10_258;

/** Where a partner's image has the definition. */
export const DEFAULT_PROVIDER_FILE = '/provider/provider.ts';

/** How the cloud controller manager of a provider is installed. */
export interface InstallOptions {
  readonly image: string;
  /** Of the program and of its lease; `<provider>-cloud-controller-manager` unless told otherwise (O5). */
  readonly namespace?: string;
  /** `sno`: one machine is the whole control plane (C30). */
  readonly topology?: 'ha' | 'sno';
  /** Another one where a second cloud controller manager can be on the same host; 0: no server (O12). */
  readonly securePort?: number;
  /** Path of the definition in the image. */
  readonly providerFile?: string;
  /** What holds `cloud.conf`, under the name `cloud-config`; without it, there is no `--cloud-config` (P7). */
  readonly cloudConfig?: 'ConfigMap' | 'Secret';
  /** What things in the cloud are named after, where a cloud serves several clusters. */
  readonly clusterName?: string;
  /** Each controller acts as an account of its own (P13). */
  readonly usesAccounts?: boolean;
  /**
   * The cloud operator deploys it: that one keeps the cloud config and what the cluster trusts in ConfigMaps of the names
   * that OpenShift has for them, and says what the cluster is called.
   */
  readonly operated?: boolean;
}

/** What the program does to the API server, from the code that does it. */
export interface InstallNeeds {
  /** Whoever it runs as: leader election, who may read metrics, caches. */
  readonly process: readonly Need[];
  /** What each controller does, by its ServiceAccount in kube-system. */
  readonly accounts: ReadonlyMap<string, readonly Need[]>;
}

/** The names that everything of one installation shares. */
export interface InstallNames {
  /** Of the Deployment and whatever else is the only one of its provider. */
  readonly name: string;
  /** Of roles and bindings, some of which are in no namespace or in that of others. */
  readonly roles: string;
  readonly namespace: string;
  readonly provider: string;
  readonly labels: Readonly<Record<string, string>>;
}

const LONGEST_LABEL = 63;

/** Throws a userError when the namespace is not one that Kubernetes takes. */
export function installNames(
  { name: provider }: Pick<ProviderDefinition, 'name'>,
  options: Pick<InstallOptions, 'namespace' | 'operated'> = {},
): InstallNames {
  const name = childName(provider, PROGRAM, LONGEST_LABEL);
  const namespace = options.namespace ?? name;
  const [problem] = dnsLabelProblems(namespace);
  if (problem !== undefined) {
    throw userError('InvalidNamespace', `"${namespace}" cannot be the name of a namespace: ${problem}`);
  }
  const labels = { 'k8s-app': name, 'infrastructure.openshift.io/cloud-controller-manager': provider };
  // A provider may be installed with and without an operator at the same time, while one hands over to the other.
  const roles = options.operated === true ? namespace : name;
  return { name, roles, namespace, provider, labels };
}

/**
 * Which controllers an installation runs: the network of OpenShift needs no routes in the cloud. Where none is left, each
 * is switched off by its name: an empty list is no list, and all would run.
 */
export function deployedControllers({ ccm }: Pick<ProviderDefinition, 'ccm'>): readonly string[] {
  const left = ccm.controllers.filter((alias) => alias !== 'route');
  return left.length > 0 ? left : CONTROLLER_NAMES.map(({ alias }) => `-${alias}`);
}
