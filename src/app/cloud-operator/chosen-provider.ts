import { dispositionOf, messageOf } from '../../base/errors.ts';
import { builtInRegistry, defineCloudProvider, type ProviderRegistry } from '../../cloud-operator/index.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { CommandError } from '../failures.ts';
import { suggestion } from '../nearest.ts';
import { releaseImage } from '../release.ts';
import { shown } from '../settings.ts';
import type { ExternalImage } from './external-provider.ts';

/** What `--provider` of the cloud operator means: nothing, a platform, or the definition of a partner. */
export interface ChosenProvider {
  readonly registry: ProviderRegistry;
  /** Absent: the cluster decides among the platforms. */
  readonly id?: string;
  /** Of a partner. */
  readonly external?: { readonly definition: ProviderDefinition; readonly where: ExternalImage };
}

/**
 * A word without slashes that is a platform is that one; anything else is a file or a folder with a definition, which is
 * registered beside the platforms. Throws a CommandError when there is none, or it cannot be beside them.
 */
export async function chosenProvider(
  folder: string,
  word: string | undefined,
  where: Partial<ExternalImage> = {},
): Promise<ChosenProvider> {
  const registry = builtInRegistry();
  if (word === undefined || word === '') return { registry };
  const ids = registry.providers().map(({ definition }) => definition.id);
  if (ids.includes(word)) return { registry, id: word };
  const definition = await definitionAt(folder, word, ids);
  // Only here: clusters of the platforms start their operator without a cloud controller manager of ours.
  const { externalProvider } = await import('./external-provider.ts');
  // Which image it runs is in images.json; this one is replaced.
  const place = { image: releaseImage(), ...where };
  try {
    registry.register(defineCloudProvider(externalProvider(definition, place)));
  } catch (error) {
    if (dispositionOf(error) !== 'user') throw error;
    throw new CommandError('SW1002', 2, `--provider ${shown(word)}: ${messageOf(error)}`, error);
  }
  return { registry, id: definition.name, external: { definition, where: place } };
}

/** Missing for both, since a word may be either. */
const ID = /^[a-z0-9-]+$/;
const NO_FILE = 'SW2101';

async function definitionAt(folder: string, word: string, ids: readonly string[]): Promise<ProviderDefinition> {
  const { loadProvider } = await import('../provider/load-provider.ts');
  try {
    return (await loadProvider(folder, word)).definition;
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== NO_FILE || !ID.test(word)) throw error;
    const hint = suggestion(word, ids) || `; there are: ${ids.join(', ')}`;
    throw new CommandError(
      NO_FILE,
      2,
      `"${word}" is neither a file or folder with a definition nor a platform${hint}`,
      error,
    );
  }
}
