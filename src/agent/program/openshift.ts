import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf } from '../../api/object.ts';
import { ApiServerConfig } from '../../api/openshift/config-v1.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isNoMatch } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { type ResolvedTls, resolvedTls } from '../../kube/manager/cluster-tls.ts';
import type { SamePolicy } from '../../kube/manager/tls-watch.ts';
import { isHonoured, tlsFromCluster } from '../../kube/serving/tls-profile.ts';
import { isJsonObject, type Json } from '../../object/json.ts';

interface Surroundings {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const ASK_AGAIN_MS = 5000;
const NO_FLAGS = { minVersion: '', cipherSuites: [] };

/** As OpenShift wants it, and what is usual on any other Kubernetes, where there is nothing to follow (agent/P4). */
export async function clusterTls(
  client: Pick<KubeClient, 'raw' | 'live'>,
  around: Surroundings,
): Promise<ResolvedTls> {
  const { log, signal } = around;
  if (await isOpenShift(client, around)) return resolvedTls(NO_FLAGS, { reader: client.live, log, signal });
  return { settings: tlsFromCluster(undefined).settings };
}

/** Waits for an answer: who guesses may serve a cluster with weaker TLS than it wants. */
async function isOpenShift(
  client: Pick<KubeClient, 'raw'>,
  { clock, log, signal }: Surroundings,
): Promise<boolean> {
  for (;;) {
    try {
      return hasApiServers(await client.raw(`/apis/${apiVersionOf(ApiServerConfig)}`, { signal }));
    } catch (thrown) {
      signal.throwIfAborted();
      if (isNoMatch(thrown)) return false;
      log.warn({ problem: messageOf(thrown) }, 'Cannot tell whether this is OpenShift: asking again');
      await clock.sleep(ASK_AGAIN_MS, signal);
    }
  }
}

/** Whether an APIResourceList names it: others may serve something in a group of this name. */
function hasApiServers(list: Json | undefined): boolean {
  const resources = isJsonObject(list) ? list['resources'] : undefined;
  return (
    Array.isArray(resources) &&
    resources.some((one) => isJsonObject(one) && one['name'] === ApiServerConfig.plural)
  );
}

/** A profile that is not followed may change as it likes: starting anew for it would never end (agent/P4). */
export const isSameForUs: SamePolicy = (now, before) =>
  now.adherence === before.adherence &&
  (!isHonoured(now.adherence) || isDeepStrictEqual(now.profile, before.profile));
