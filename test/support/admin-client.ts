import { homedir } from 'node:os';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import { connect } from '../../src/kube/transport/connection.ts';
import { STAND_INS, type StandInName } from '../../src/lab/setup/lab-options.ts';

/** A client as the user of a kubeconfig, on the clock of this machine; its connections end with `parts`. */
export async function adminClient(parts: AsyncDisposableStack, kubeconfigFlag: string): Promise<KubeClient> {
  const [clock, log] = [new SystemClock(), SILENT_LOG];
  const access = await loadKubeconfig({ env: {}, homeDir: homedir(), kubeconfigFlag });
  const { transport } = parts.use(connect(access, { clock, log }));
  return createClient({ transport, fieldManager: 'test', clock, log });
}

/** Leaves everything of Kubernetes to others but these parts of the lab. */
export const replaceAllBut = (...names: readonly StandInName[]): Readonly<Partial<Record<StandInName, 'off'>>> =>
  Object.fromEntries(STAND_INS.filter((name) => !names.includes(name)).map((name) => [name, 'off'] as const));
