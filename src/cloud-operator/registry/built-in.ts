import { PLATFORMS } from '../platforms/index.ts';
import { defineCloudProvider } from '../render/cloud-provider.ts';
import { ProviderRegistry } from './providers.ts';

/** A registry of its own with every platform that is shipped (R98). Reads their files. */
export const builtInRegistry = (): ProviderRegistry => new ProviderRegistry(PLATFORMS.map(defineCloudProvider));
