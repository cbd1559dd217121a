import type { Tags } from '../capabilities/call.ts';
import type { Capabilities } from '../capabilities/capabilities.ts';
import type { ProviderDefinition } from './provider-definition.ts';

/**
 * A definition with its client, as components use it. Its capabilities are guarded: what they are given is frozen, a call
 * that takes too long ends with an error, what they throw is a ProviderError, and what they answer has been checked.
 */
export interface ConnectedProvider extends AsyncDisposable {
  readonly name: string;
  readonly definition: ProviderDefinition;
  readonly clusterId: string | undefined;
  /** What everything of this cluster is tagged with. */
  readonly clusterTags: Tags;
  readonly capabilities: Capabilities;
}
