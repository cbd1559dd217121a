import { ClusterVersion } from '../../src/api/openshift/config-v1.ts';
import { openshiftDefinitions } from '../../src/api/openshift/definitions.schema.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { TestEnv } from '../../src/testing/test-env.ts';

const KEY = { name: 'version' };
const TIME = '2026-01-01T00:00:00Z';

type Status = NonNullable<ClusterVersion['status']>;

/** The API server of a workload cluster in this process, with what its version operator says. */
export interface WorkloadVersion extends AsyncDisposable {
  readonly client: KubeClient;
  /** What the operator reports. */
  say(status: Status): Promise<void>;
  desiredUpdate(): Promise<unknown>;
}

export const completed = (version: string) => ({
  state: 'Completed',
  version,
  image: 'x',
  verified: false,
  startedTime: TIME,
  completionTime: TIME,
});
export const partial = (version: string, completionTime: string | null = null) => ({
  state: 'Partial',
  version,
  image: 'x',
  verified: false,
  startedTime: TIME,
  completionTime,
});

export async function startWorkload({
  clock,
  activity,
}: Pick<TestEnv, 'clock' | 'activity'>): Promise<WorkloadVersion> {
  const server = await startApiServer({
    storage: 'memory',
    listen: false,
    clock,
    crds: openshiftDefinitions(),
  });
  const transport = activity.around(server.client());
  const client = createClient({ transport, fieldManager: 'test', clock, log: SILENT_LOG });
  await client.create(ClusterVersion, {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterVersion',
    metadata: { ...KEY },
    spec: { clusterID: '5f0e2f1c-5a5d-4f43-9d5c-3f3c7a8b9c0d' },
  });
  return {
    client,
    say: async (status) => {
      const live = await client.live.get(ClusterVersion, KEY);
      const { generation = 1 } = live.metadata;
      const filled = { observedGeneration: generation, versionHash: '', availableUpdates: null, ...status };
      await client.updateStatus(ClusterVersion, { ...live, status: filled });
    },
    desiredUpdate: async () => (await client.live.get(ClusterVersion, KEY)).spec?.desiredUpdate,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
