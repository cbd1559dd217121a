import {
  cloudOperator,
  deployedFlags,
  type Installation,
  type OperatorMode,
  type OperatorNames,
  operatorNames,
  platformAccess,
} from '../../cloud-operator/index.ts';
import { CommandError } from '../failures.ts';
import { releaseVersion } from '../release.ts';
import type { ChosenProvider } from './chosen-provider.ts';
import { externalAccess, imageKey } from './external-provider.ts';

/** What the cluster version operator puts the version of the release in the place of. */
const STUB_VERSION = '0.0.1-snapshot';

const LONGEST_NAMESPACE = 63;

export interface InstallationWish {
  /** Of the operator, and with it of the partner's cloud controller manager. */
  readonly image: string;
  readonly mode?: OperatorMode | undefined;
  /** Path of the partner's definition in the image. */
  readonly providerFile: string;
  /** Of a release, by the keys of `images.json`, instead of placeholders. */
  readonly images?: Readonly<Record<string, string>>;
}

/** What installs the operator for a provider, or for the platforms. Throws a CommandError for a mode that does not fit. */
export function installationOf(chosen: ChosenProvider, wish: InstallationWish): Installation {
  const { registry, id, external } = chosen;
  const { mode, names } = placeOf(chosen, wish);
  const flags = deployedFlags({ mode, names, ...(id !== undefined && { provider: id }) });
  const base = {
    mode,
    names,
    image: wish.image,
    needs: cloudOperator.needs(registry, flags),
    imageReferences: registry.imageReferences(wish.image),
    releaseVersion: mode === 'replace' ? STUB_VERSION : releaseVersion(),
  };
  const requests = registry.credentialsRequests(names.managedNamespace);
  if (external === undefined) {
    return {
      ...base,
      ...(id !== undefined && { provider: id }),
      held: registry.operatorRules(),
      images: wish.images ?? registry.imagesJson(wish.image),
      credentials: requests,
      operandAccess: platformAccess(names),
      isForPlatforms: true,
    };
  }
  const { definition, where } = external;
  const own = registry.providers().find((provider) => provider.definition.id === definition.name);
  const secrets = new Set(own?.definition.credentials?.map(({ name }) => name));
  return {
    ...base,
    provider: wish.providerFile,
    // Its Deployment grants nothing.
    held: [],
    images: { [imageKey(definition.name)]: wish.image, ...wish.images },
    credentials: requests.filter(({ metadata }) => secrets.has(metadata.name)),
    operandAccess: externalAccess(definition, where, names.managedNamespace),
    isForPlatforms: false,
  };
}

function placeOf(
  { id, external }: ChosenProvider,
  wish: InstallationWish,
): { readonly mode: OperatorMode; readonly names: OperatorNames } {
  const mode = wish.mode ?? (external === undefined ? 'replace' : 'sidecar');
  if (mode === 'sidecar' && external === undefined) {
    throw new CommandError('SW1002', 2, '--mode sidecar is for a provider of yours: name it with --provider');
  }
  const names = operatorNames(mode, id ?? '');
  const surplus = names.operatorNamespace.length - LONGEST_NAMESPACE;
  if (surplus > 0) {
    const { length } = id ?? '';
    throw new CommandError(
      'SW1002',
      2,
      `the provider ${id} has a name that is too long for mode sidecar: ${length} characters, of which there may be ${length - surplus}, since its namespace is ${names.operatorNamespace}; shorten it, or use --mode replace`,
    );
  }
  return { mode, names };
}
