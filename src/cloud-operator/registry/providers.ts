import type { Infrastructure, PlatformStatus, PlatformType } from '../../api/openshift/config-v1.ts';
import { terminalError, userError } from '../../base/errors.ts';
import type { OperandKind } from '../apply/applied-kinds.ts';
import {
  type CloudConfigPolicy,
  type CloudProvider,
  type CloudProviderDefinition,
  MANAGED_NAMESPACE,
} from '../definition.ts';
import { operandKinds } from './operand-kinds.ts';
import { operatorRules, type ScopedRules } from './operator-rules.ts';
import {
  type CredentialsRequest,
  credentialsRequests,
  type ImageStream,
  imageReferences,
  imagesJson,
  payloadTags,
} from './payload.ts';
import { type PlatformRow, platformRow } from './platform-table.ts';

/** Which provider was asked for, by its id; without one the cluster decides. */
export interface ProviderChoice {
  readonly provider?: string | undefined;
}

/** The only switch between clouds (R96): whatever differs between them is computed from what is registered here. */
export class ProviderRegistry {
  readonly #providers: CloudProvider[] = [];

  constructor(providers: readonly CloudProvider[] = []) {
    for (const provider of providers) this.register(provider);
  }

  /** Throws for an id that is taken, for a second provider of the same clusters, and for one that contradicts others (R97). */
  register(provider: CloudProvider): void {
    const { id, match } = provider.definition;
    const problem = (text: string) => userError('InvalidDefinition', `cloud provider ${id}: ${text}`);
    if (this.#providers.some(({ definition }) => definition.id === id)) throw problem('the id is taken');
    const other = isGeneral(provider) ? this.#ofType(match.type).find(isGeneral) : undefined;
    if (other !== undefined && match.type !== 'External') {
      throw problem(`${other.definition.id} is for every cluster on ${match.type} already; say when in its match`);
    }
    const definitions = [...this.#definitions(), provider.definition];
    payloadTags(definitions);
    credentialsRequests(definitions, MANAGED_NAMESPACE);
    this.#providers.push(provider);
  }

  /** In the order in which they were registered. */
  providers(): readonly CloudProvider[] {
    return [...this.#providers];
  }

  /**
   * The provider of a cluster; undefined where there is none, which is no error (R21). On the platform External it is the one that
   * was asked for, or the only one (R97). Throws when the choice cannot be made, or does not suit the cluster.
   */
  resolve(infra: Infrastructure, { provider }: ProviderChoice = {}): CloudProvider | undefined {
    const chosen = provider === undefined ? undefined : this.#byId(provider);
    const status = infra.status?.platformStatus;
    if (status?.type === undefined || status.type === '') return undefined;
    if (chosen !== undefined) return checkedChoice(chosen, status);
    return status.type === 'External' ? this.#onlyExternal() : this.#matching(status);
  }

  /** Whether kubelets wait for a cloud controller manager (section 4.1 of the specification). */
  isCloudProviderExternal(status: PlatformStatus | undefined): boolean {
    if (status === undefined) throw terminalError('PlatformStatusMissing', 'platformStatus is required');
    if (status.type === 'External') return status.external?.cloudControllerManager?.state === 'External';
    const provider = this.#matching(status);
    return provider !== undefined && (provider.definition.kubelet?.cloudProvider ?? 'external') === 'external';
  }

  /** What `--cloud-provider` of kubelets says, which is always there (R17). */
  kubeletCloudProvider(status: PlatformStatus | undefined): 'external' | '' {
    return this.isCloudProviderExternal(status) ? 'external' : '';
  }

  /** Platforms whose cloud config is synced (R63). */
  syncedPlatforms(): readonly PlatformType[] {
    const synced = this.#definitions().filter(({ cloudConfig }) => cloudConfig !== undefined);
    return [...new Set(synced.map(({ match }) => match.type))];
  }

  /** Undefined where nothing is synced. Throws as `resolve` does. */
  cloudConfigOf(infra: Infrastructure, choice?: ProviderChoice): CloudConfigPolicy | undefined {
    return this.resolve(infra, choice)?.definition.cloudConfig;
  }

  /** Keys of images.json (R10). */
  imageKeys(): readonly string[] {
    return [...payloadTags(this.#definitions()).keys()];
  }

  /** Those without which nothing can be deployed for a cluster, or for any (R20). */
  requiredImages(choice?: ProviderChoice): readonly string[] {
    const bindings = this.#chosen(choice).flatMap(({ definition }) => Object.entries(definition.images));
    return [...new Set(bindings.filter(([, { optional }]) => optional !== true).map(([key]) => key))];
  }

  /** With placeholders, but for that of the operator when it is given. */
  imagesJson(operatorImage?: string): Readonly<Record<string, string>> {
    return imagesJson(this.#definitions(), operatorImage);
  }

  imageReferences(operatorImage?: string): ImageStream {
    return imageReferences(this.#definitions(), operatorImage);
  }

  credentialsRequests(managedNamespace = MANAGED_NAMESPACE): readonly CredentialsRequest[] {
    return credentialsRequests(this.#definitions(), managedNamespace);
  }

  /** What the operator must hold besides its own rules (R92). */
  operatorRules(choice?: ProviderChoice): readonly ScopedRules[] {
    return operatorRules(this.#chosen(choice));
  }

  /** What may be deployed, and where, if the managed namespace is this one: the operator has no business with anything else (R92). */
  operandKinds(managedNamespace: string, choice?: ProviderChoice): readonly OperandKind[] {
    return operandKinds(this.#chosen(choice), managedNamespace);
  }

  /** For the documentation. */
  platformTable(): readonly PlatformRow[] {
    return this.#providers.map(platformRow);
  }

  #definitions(): readonly CloudProviderDefinition[] {
    return this.#providers.map(({ definition }) => definition);
  }

  #ofType(type: PlatformType): readonly CloudProvider[] {
    return this.#providers.filter(({ definition }) => definition.match.type === type);
  }

  /** Those that can become the provider of a cluster. */
  #chosen({ provider }: ProviderChoice = {}): readonly CloudProvider[] {
    return provider === undefined ? this.#providers : [this.#byId(provider)];
  }

  #byId(id: string): CloudProvider {
    const found = this.#providers.find(({ definition }) => definition.id === id);
    if (found !== undefined) return found;
    const known = this.#definitions().map((definition) => definition.id);
    throw userError('UnknownProvider', `there is no cloud provider ${id}; there are ${known.join(', ')}`);
  }

  #onlyExternal(): CloudProvider | undefined {
    const [first, ...others] = this.#ofType('External');
    if (others.length === 0) return first;
    const ids = this.#ofType('External').map(({ definition }) => definition.id);
    throw userError('UnknownProvider', `choose a cloud provider by --provider: ${ids.join(', ')}`);
  }

  /** One that looks at the cluster goes before one that takes all of the platform. */
  #matching(status: PlatformStatus): CloudProvider | undefined {
    const candidates = this.#ofType(status.type ?? '').filter((provider) => suits(provider, status));
    const special = candidates.filter((provider) => !isGeneral(provider));
    if (special.length <= 1) return special[0] ?? candidates[0];
    const ids = special.map(({ definition }) => definition.id);
    throw terminalError(
      'AmbiguousProvider',
      `more than one cloud provider is for this cluster: ${ids.join(', ')}`,
    );
  }
}

const isGeneral = ({ definition: { match } }: CloudProvider): boolean =>
  match.type === 'External' || match.when === undefined;

const suits = ({ definition: { match } }: CloudProvider, status: PlatformStatus): boolean =>
  match.type === status.type && (match.type === 'External' || match.when?.(status) !== false);

function checkedChoice(provider: CloudProvider, status: PlatformStatus): CloudProvider {
  const { id, match } = provider.definition;
  if (suits(provider, status)) return provider;
  const text = `cloud provider ${id} is for ${match.type}, and does not suit this cluster, which is on ${status.type ?? ''}`;
  throw terminalError('ProviderMismatch', text);
}

/** What to warn of (R97): the name of a platform is a hint and decides nothing. Undefined where it fits. */
export function platformNameMismatch({ definition }: CloudProvider, infra: Infrastructure): string | undefined {
  const { id, match } = definition;
  const hint = match.type === 'External' ? match.platformName : undefined;
  const found = infra.spec?.platformSpec?.external?.platformName ?? 'Unknown';
  if (hint === undefined || hint.toLowerCase() === found.toLowerCase()) return undefined;
  return `cloud provider ${id} is for the platform ${hint}, the cluster says ${found}`;
}
