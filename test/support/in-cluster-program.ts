// Finds itself in its cluster, as every program in a pod can: by the variables that it has, and by the name of the API.
import { Pod } from '../../src/api/generated/core-v1.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import { connect } from '../../src/kube/transport/connection.ts';

const clock = new SystemClock();
const { HOSTNAME: name = '', KUBERNETES_SERVICE_HOST: address = '' } = process.env;
for (const host of [address, 'kubernetes.default.svc']) {
  const env = { ...process.env, KUBERNETES_SERVICE_HOST: host };
  const access = await loadKubeconfig({ env, homeDir: '/nowhere', clock });
  await using connection = connect(access, { clock, log: SILENT_LOG, userAgent: 'own' });
  const { transport } = connection;
  const client = createClient({ transport, fieldManager: 'own', clock, log: SILENT_LOG });
  const pod = await client.get(Pod, { namespace: access.namespace ?? '', name });
  process.stdout.write(`${access.server.hostname}: ${pod.metadata.name} on ${pod.spec.nodeName}\n`);
}
