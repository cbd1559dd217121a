import { ApiServerConfig, SINGLETON } from '../../api/openshift/config-v1.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { LiveReader } from '../client/kube-client.ts';
import {
  type ClusterTls,
  hasTlsFlags,
  type TlsFlags,
  type TlsSettings,
  tlsFromCluster,
  tlsFromFlags,
} from '../serving/tls-profile.ts';

/** For questions that are asked before a manager runs. */
export interface FactsOptions {
  readonly reader: Pick<LiveReader, 'find'>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** How TLS is spoken, and what of the cluster that depends on; absent where flags said it (operator/R5). */
export interface ResolvedTls {
  readonly settings: TlsSettings;
  readonly policy?: ClusterTls['policy'];
}

/** A server that does not answer does not keep the program from starting. */
const TIMEOUT_MS = 10_000;

/** From the flags, else from the cluster, else what is usual (operator/R5, operator/R6). */
export async function resolvedTls(flags: TlsFlags, { reader, log, signal }: FactsOptions): Promise<ResolvedTls> {
  if (hasTlsFlags(flags)) return { settings: tlsFromFlags(flags) };
  let found: ApiServerConfig | undefined;
  try {
    found = await reader.find(ApiServerConfig, SINGLETON, { signal, timeoutMs: TIMEOUT_MS });
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    log.warn({ problem: messageOf(thrown) }, 'Cannot read the TLS profile: taking the usual one');
  }
  const { settings, policy, dropped, problem } = tlsFromCluster(found);
  if (problem !== undefined) log.warn({ problem }, 'The TLS profile of the cluster cannot be used');
  if (dropped.length > 0) log.info({ ciphers: dropped.join(', ') }, 'Ciphers of the TLS profile are left out');
  return { settings, policy };
}
