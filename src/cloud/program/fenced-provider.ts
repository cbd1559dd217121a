import { LeadershipLost } from '../../kube/client/api-error.ts';
import type { Fence } from '../../kube/election/fence.ts';
import { type Capabilities, READING_METHODS } from '../../sdk/capabilities/capabilities.ts';
import type { ConnectedProvider } from '../../sdk/provider/connected-provider.ts';

type Method = (...args: readonly unknown[]) => unknown;
type Methods = Readonly<Record<string, Method>>;

/**
 * A provider that changes nothing while another process may lead: a process that stood still and wakes up would undo what
 * its successor did, and no API server is there to refuse it (runtime/E7). Such a call rejects with LeadershipLost and is
 * not made.
 */
export function fencedProvider(provider: ConnectedProvider, fence: Pick<Fence, 'isValid'>): ConnectedProvider {
  const entries = Object.entries(provider.capabilities).map(([name, methods]) => [
    name,
    // A capability is a table of methods.
    fencedMethods(methods as unknown as Methods, fence),
  ]);
  return { ...provider, capabilities: Object.freeze(Object.fromEntries(entries)) as Capabilities };
}

function fencedMethods(methods: Methods, fence: Pick<Fence, 'isValid'>): Methods {
  const fenced =
    (method: Method): Method =>
    async (...args) => {
      if (!fence.isValid) throw new LeadershipLost();
      return await Reflect.apply(method, methods, args);
    };
  const entries = Object.entries(methods).map(([name, method]) => [
    name,
    READING_METHODS.has(name) ? method : fenced(method),
  ]);
  return Object.freeze(Object.fromEntries(entries));
}
