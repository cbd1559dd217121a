import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf, userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import type { Metrics } from '../../kube/metrics/metrics.ts';
import { connectProvider, type ProviderCall } from '../../sdk/provider/connect-provider.ts';
import type { ConnectedProvider } from '../../sdk/provider/connected-provider.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { isProviderError, ProviderError } from '../../sdk/provider/provider-error.ts';
import type { ProgramSettings } from './settings.ts';

/** Finds the definition of a provider; undefined when there is none of that name. */
export type FindProvider = (request: {
  readonly name: string;
  /** Of a file or a folder; empty: one that is built in. */
  readonly path: string;
}) => Promise<ProviderDefinition | undefined>;

/** A definition and what `--cloud-config` says; undefined without the flag, never an empty text instead (P7). */
export interface FoundProvider {
  readonly definition: ProviderDefinition;
  readonly config: string | undefined;
  /** What `--credentials-dir` has of the variables that the definition lists; these win over the environment. */
  readonly secrets: ReadonlyMap<string, string>;
}

type Wanted = Pick<ProgramSettings, 'cloudProvider' | 'providerPath' | 'cloudConfigFile' | 'credentialsFolder'>;

/** Throws a userError when there is no such provider, or its configuration cannot be read (P7). */
export async function foundProvider(wanted: Wanted, find: FindProvider): Promise<FoundProvider> {
  const { cloudProvider: name, providerPath: path, cloudConfigFile, credentialsFolder } = wanted;
  if (name === 'external') {
    throw userError('NoProvider', '--cloud-provider=external is for kubelets: name the provider itself here');
  }
  const definition = await find({ name, path });
  if (definition?.name !== name) {
    const other = definition === undefined ? '' : `; ${path} defines "${definition.name}"`;
    throw userError('UnknownProvider', `unknown cloud provider "${name}"${other}`);
  }
  const secrets = await secretsIn(credentialsFolder, definition.secrets);
  return { definition, config: await configText(cloudConfigFile), secrets };
}

/** One file per variable, as a mounted Secret has them; on the bootstrap machine there are no Secrets to mount (O17). */
async function secretsIn(folder: string, names: readonly string[]): Promise<FoundProvider['secrets']> {
  const found = new Map<string, string>();
  if (folder === '') return found;
  for (const name of names) {
    try {
      found.set(name, await readFile(join(folder, name), 'utf8'));
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') continue;
      throw userError('UnreadableFile', `${messageOf(cause)}, for --credentials-dir`, { cause });
    }
  }
  return found;
}

async function configText(file: string): Promise<string | undefined> {
  if (file === '') return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw userError('UnreadableFile', `couldn't open cloud provider configuration ${file}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

export interface ProviderSurroundings {
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

type ConnectSettings = Pick<ProgramSettings, 'cloud' | 'allowUntaggedCloud' | 'cloudConfigFile'>;

/** A provider is told the text of its configuration and no more, so it can name the field but not the file. */
function withFile(thrown: unknown, file: string): unknown {
  if (file === '' || !isProviderError(thrown) || thrown.kind !== 'invalid') return thrown;
  return new ProviderError('invalid', `${thrown.message} (--cloud-config=${file})`, { cause: thrown });
}

/** Throws when the provider cannot be connected, or does not know which cluster this is (P8). */
export async function connected(
  { definition, config, secrets }: FoundProvider,
  { cloud, allowUntaggedCloud, cloudConfigFile }: ConnectSettings,
  { env, clock, log, metrics, signal }: ProviderSurroundings,
): Promise<ConnectedProvider> {
  // Whoever connects it lets it ask for nothing but what it lists.
  const secret = (name: string) => secrets.get(name) ?? env[name];
  const connecting = connectProvider(definition, {
    context: { config, secret, clock, log, signal },
    callTimeoutMs: cloud.providerCallTimeoutMs,
    onCall: counted(metrics),
  });
  const provider = await connecting.catch((thrown: unknown) => {
    throw withFile(thrown, cloudConfigFile);
  });
  if (provider.clusterId !== undefined) return provider;
  if (allowUntaggedCloud) {
    log.warn(
      { provider: provider.name },
      'The provider knows no id of the cluster: what it makes may be mixed up',
    );
    return provider;
  }
  await provider[Symbol.asyncDispose]();
  throw userError(
    'NoClusterId',
    `provider ${provider.name} knows no id of the cluster, so that what it makes cannot be told from that of others; configure one, or give --allow-untagged-cloud`,
  );
}

const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

function counted(metrics: Metrics): (call: ProviderCall) => void {
  const labels = ['capability', 'method', 'result'];
  const durations = metrics.histogram({
    name: 'cloud_provider_call_duration_seconds',
    help: 'How long calls of the provider took.',
    labels,
    buckets: SECONDS,
  });
  return ({ capability, method, result, kind, durationMs }) =>
    durations.observe({ capability, method, result: kind ?? result }, durationMs / 1000);
}
