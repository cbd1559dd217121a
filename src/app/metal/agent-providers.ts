import { agent, agentNames, type Provider } from '../../agent/index.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Clock, SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { applyObject } from '../../kube/apply/apply-object.ts';
import { until } from '../../kube/apply/until.ts';
import { createClient } from '../../kube/client/create-client.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { createRestMapper } from '../../kube/client/rest-mapper.ts';
import { isTrue } from '../../object/conditions.ts';
import type { JourneyHub } from '../apiserver/hub-handover.ts';
import { releaseImage, releaseVersion } from '../release.ts';

export interface ProvidersOptions {
  readonly hub: JourneyHub;
  readonly clock: Clock;
  /** A line of a log, as JSON. */
  readonly warn: (line: string) => void;
}

/** The providers at work. */
export interface RunningProviders extends AsyncDisposable {
  /** Resolves with a sentence when one of them ends by itself. */
  readonly ended: Promise<string>;
}

const PROVIDERS: readonly Provider[] = ['bootstrap', 'control-plane'];
/** A hub has no nodes: what runs as pods elsewhere runs in this process, and nobody has to sign its certificates. */
const ELSEWHERE = new Set(['Deployment', 'Issuer', 'Certificate']);
const FLAGS = [
  '--webhook-port=0',
  '--metrics-bind-address=0',
  '--health-probe-bind-address=0',
  '--logging-format=json',
  '--v=0',
];
const ESTABLISHED_MS = 30_000;

export const hubAdmin = ({ server }: JourneyHub, clock: Clock): KubeClient =>
  createClient({
    transport: server.client('admin', ['system:masters']),
    fieldManager: 'slipway/up',
    clock,
    log: SILENT_LOG,
  });

/** Runs both providers under the accounts that their installation gives them. */
export function runProviders({ hub, clock, warn }: ProvidersOptions): RunningProviders {
  const stop = new AbortController();
  const runs = PROVIDERS.map((provider) => run(provider, { hub, clock, warn }, stop.signal));
  const ended = Promise.race(runs.map(async (one, at) => `the ${PROVIDERS[at]} provider ended with ${await one}`));
  return {
    ended,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.all(runs);
    },
  };
}

function run(provider: Provider, { hub, clock, warn }: ProvidersOptions, signal: AbortSignal): Promise<number> {
  const { namespace, account } = agentNames(provider);
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return agent.run(
    {
      argv: FLAGS,
      // Nothing of the machine of the user is meant for them.
      env: { ASSISTED_CA_BUNDLE_NAME: '', ASSISTED_CA_BUNDLE_NAMESPACE: '' },
      homeDir: '/',
      version: releaseVersion(),
      clock,
      signal,
      stdout: () => {},
      stderr: (text) => {
        for (const line of text.split('\n')) if (isWarning(line)) warn(line);
      },
      kube: hub.server.client(`system:serviceaccount:${namespace}:${account}`, groups),
    },
    [provider],
  );
}

const isWarning = (line: string): boolean => /"level":"(warn|error|fatal)"/.test(line);

/** Installs both as `slipway render agent` renders them, all but what runs in this process. */
export async function installProviders(hub: JourneyHub, clock: Clock): Promise<void> {
  const client = hubAdmin(hub, clock);
  const mapper = createRestMapper(client, new SystemClock());
  const files = agent.repositoryFiles({
    image: releaseImage(),
    version: releaseVersion(),
    signer: 'cert-manager',
  });
  const webhooks = agent.webhooks();
  for (const provider of PROVIDERS) {
    const { namespace, service } = agentNames(provider);
    hub.webhooks.set(`${namespace}/${service}`, webhooks.local);
  }
  const objects: readonly KubeObject[] = files.flatMap((file) => file.objects);
  const here = objects.filter(({ kind }) => !ELSEWHERE.has(kind) && kind !== 'Metadata');
  for (const object of here) {
    await applyObject({ client, mapper }, object, { force: true });
    if (object.kind === 'CustomResourceDefinition') await established(client, object.metadata.name, clock);
  }
}

const established = (client: KubeClient, name: string, clock: Clock): Promise<unknown> =>
  until({ client, kind: CustomResourceDefinition, key: { name } }, (crd) => isTrue(crd, 'Established'), {
    clock,
    timeoutMs: ESTABLISHED_MS,
  });
