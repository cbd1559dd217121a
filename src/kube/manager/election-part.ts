import { userError } from '../../base/errors.ts';
import { createClient } from '../client/create-client.ts';
import { LEADER_PROFILES } from '../election/election-timing.ts';
import { Elector } from '../election/elector.ts';
import { type Fence, UNFENCED } from '../election/fence.ts';
import { leaseStore } from '../election/lease-store.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { tracedLeaseStore } from '../metrics/tracing.ts';
import type { Need } from '../rbac/need.ts';
import { electionNeeds } from '../rbac/runtime-needs.ts';
import type { ManagerContext } from './manager-context.ts';
import type { Candidacy } from './manager-run.ts';

/** What a manager has of leader election. */
export interface Election {
  readonly fence: Fence;
  isLeader(): boolean;
  /** Undefined: everybody leads (E10). */
  readonly candidacy?: (events: EventRecorder) => (elected: () => void) => Candidacy;
  readonly needs: readonly Need[];
}

/** What an election does not decide by itself. */
export interface ElectionSurroundings {
  /** Without election, writes go by this. */
  readonly outer?: Fence | undefined;
  /** What recording an event takes. */
  readonly recording: readonly Need[];
}

/** Throws a userError when it is not known where the Lease is to be. */
export function electionOf(
  context: ManagerContext,
  { outer = UNFENCED, recording }: ElectionSurroundings,
): Election {
  const { config, ways, clock, hostname } = context;
  const settings = config.leaderElection;
  if (settings === undefined || settings === false) {
    return { fence: outer, isLeader: () => outer.isValid, needs: [] };
  }
  const { id, namespace = ways.namespace, release = true, ...times } = settings;
  if (namespace === undefined) {
    throw userError(
      'NoElectionNamespace',
      'leaderElection.namespace (--leader-election-namespace) is missing: outside a pod, and without a namespace in the kubeconfig context, it must be said',
    );
  }
  const timing = { ...LEADER_PROFILES.default, ...times };
  let elector: Elector | undefined;
  const lease = { namespace, name: id };
  // Events on the Lease are written beside it, and that may be a namespace that nothing else happens in (E9, B5).
  const isElsewhere = config.namespaces !== undefined && !config.namespaces.includes(namespace);
  const announcing = isElsewhere ? recording.map((need) => ({ ...need, namespace })) : [];
  const candidacy = (events: EventRecorder) => (elected: () => void) => {
    const { log, metrics, name, tracer } = context;
    // No retries and no fence: the elector knows best, and is what the fence goes by.
    const client = createClient({
      transport: ways.election,
      fieldManager: config.fieldManager ?? name,
      clock,
      log,
    });
    const identity = `${hostname}_${clock.uuid()}`;
    const plain = leaseStore(client, lease);
    const store = tracer === undefined ? plain : tracedLeaseStore(plain, tracer, id);
    elector = new Elector({ name: id, identity, timing, store, clock, log, metrics, events, elected });
    const running = elector;
    return {
      run: (signal: AbortSignal) => running.run(signal),
      release: async (signal: AbortSignal) => {
        if (release) await running.release(signal);
      },
    };
  };
  return {
    fence: {
      get isValid() {
        return elector?.fence.isValid ?? false;
      },
      get token() {
        return elector?.fence.token ?? '0';
      },
    },
    isLeader: () => elector?.isLeader ?? false,
    candidacy,
    needs: [...electionNeeds(lease), ...announcing],
  };
}
