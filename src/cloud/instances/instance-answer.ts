import { messageOf } from '../../base/errors.ts';
import type { CallContext } from '../../sdk/capabilities/call.ts';
import type { InstanceObservation } from '../../sdk/capabilities/instances.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';

/** What was learned about one machine. What went wrong is told per machine, so that one does not hide the others. */
export type InstanceAnswer = InstanceObservation | { readonly state: 'failed'; readonly error: unknown };

export const failed = (error: unknown): InstanceAnswer => ({ state: 'failed', error });

/** A provider that says nothing about a machine has not said that it is gone. */
export const unanswered = (nodeName: string): InstanceAnswer =>
  failed(new ProviderError('unknown', `the provider was asked about ${nodeName} and did not answer for it`));

/** What a provider threw, as a ProviderError. Who has been told to stop hears why, whatever the provider made of it. */
export function providerFailure(thrown: unknown, { signal }: Pick<CallContext, 'signal'>): unknown {
  if (signal.aborted) return signal.reason;
  return thrown instanceof ProviderError
    ? thrown
    : new ProviderError('unknown', messageOf(thrown), { cause: thrown });
}
