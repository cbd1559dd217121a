import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { keyOf } from '../../api/object.ts';
import {
  AGAIN_MS,
  type Boot,
  type BootData,
  type BootStep,
  failed,
  infraEnvLeaves,
  type Verdict,
  type WaitingVerdict,
} from '../bootstrap/verdict.ts';
import { ensureInfraEnv } from '../infra-env/ensure-infra-env.ts';
import { architectureIn, foreignCluster, pullSecretOf } from '../infra-env/infra-env.ts';
import { ensurePlaceholder } from '../infra-env/placeholder-pull-secret.ts';
import { derivedTemplateName, type IsoIdentity, originOf } from './derived-template.ts';
import { ensureLiveImage, findInfraMachine, type InfraMachine } from './infra-machine.ts';
import { type ContractKinds, isMetal3, type Metal3Kinds } from './metal3-kinds.ts';
import {
  ignoredSettings,
  isoIdentityOf,
  notOurs,
  SHARED_INFRA_ENV_LABEL,
  sharedInfraEnv,
  sharedInfraEnvName,
  sharedInfraEnvOf,
} from './shared-infra-env.ts';
import { type KeptTemplate, type TemplateKeeper, takenTemplate } from './template-keeper.ts';

export interface LiveIsoBootOptions {
  readonly kinds: ContractKinds;
  readonly templates: TemplateKeeper;
}

/** What is needed of a config whose data is out. */
export type Followed = Pick<BootStep, 'config' | 'cluster' | 'context'>;

/** What a Machine boots, once everything about it is known. */
interface Target {
  readonly kinds: Metal3Kinds;
  readonly infra: InfraMachine;
  readonly identity: IsoIdentity;
}

/**
 * The ISO of assisted-service, one for all machines of a template and architecture. The address of the ISO is on the
 * infrastructure machine before there is any bootstrap data, and without that no host is powered on.
 */
export class LiveIsoBoot implements Boot {
  readonly #options: LiveIsoBootOptions;

  constructor(options: LiveIsoBootOptions) {
    this.#options = options;
  }

  async prepare(step: BootStep): Promise<Verdict | BootData> {
    const target = await this.#target(step);
    if ('type' in target) return target;
    const wanted = await this.#infraEnv(step, target.identity);
    if ('type' in wanted) return wanted;
    const url = wanted.status?.isoDownloadURL ?? '';
    if (url === '') return waitingForIso(wanted);
    try {
      await ensureLiveImage(step.context.client, target.infra, url);
      const { identity, infra, kinds } = target;
      if (infra.clonedFrom !== undefined) await this.#keep(step, { kind: kinds.template, identity, url });
    } catch (error) {
      return failed(
        'InfrastructureMachineFailed',
        error,
        `${target.infra.kind.kind} ${target.infra.machine.metadata.name}: `,
      );
    }
    return { type: 'data', value: '' };
  }

  /** After the data is out: only the derived template may still have to follow. The machine keeps what it booted. */
  async follow(step: Followed, infraEnv: InfraEnv): Promise<void> {
    const url = infraEnv.status?.isoDownloadURL ?? '';
    const identity = isoIdentityOf(infraEnv, step.cluster);
    if (url === '' || identity === undefined) return;
    const { template: kind } = await this.#options.kinds.find(step.context.client.live);
    await this.#keep(step, { kind, identity, url });
  }

  async #target(step: BootStep): Promise<Target | Verdict> {
    const { machine, context } = step;
    const { infrastructureRef } = machine.spec;
    if (!isMetal3(infrastructureRef)) return unsupported(infrastructureRef);
    const { namespace = '' } = machine.metadata;
    try {
      const kinds = await this.#options.kinds.find(context.client.live);
      const infra = await findInfraMachine(context.client, kinds, { namespace, name: infrastructureRef.name });
      if (infra === undefined) return noInfraMachine(infrastructureRef.name);
      return { kinds, infra, identity: await this.#identity(step, kinds, infra) };
    } catch (error) {
      return failed('InfrastructureMachineFailed', error);
    }
  }

  /** A machine that nobody cloned has an ISO of its own. */
  async #identity(
    { config, cluster, context }: Followed,
    { template: kind }: Metal3Kinds,
    { clonedFrom, machine }: InfraMachine,
  ): Promise<IsoIdentity> {
    const { name, namespace = '' } = cluster.metadata;
    const found =
      clonedFrom === undefined ? undefined : await context.client.live.find(kind, { namespace, name: clonedFrom });
    const template = originOf(found, clonedFrom ?? machine.metadata.name);
    return { cluster: name, template, architecture: architectureIn(config) };
  }

  /** The config says which InfraEnv it uses before there is one: its finalizer must find what it has to clean up. */
  async #infraEnv(step: BootStep, identity: IsoIdentity): Promise<InfraEnv | Verdict> {
    const { config, cluster, deployment, context } = step;
    const { client, events } = context;
    let infraEnv: InfraEnv;
    let wanted: InfraEnv;
    try {
      const name = sharedInfraEnvName(identity);
      if (sharedInfraEnvOf(config) !== name) {
        const body = { metadata: { labels: { [SHARED_INFRA_ENV_LABEL]: name } } };
        await client.patch(OpenshiftAssistedConfig, keyOf(config), { type: 'merge', body });
      }
      const pullSecret = pullSecretOf(config) || (await ensurePlaceholder(client, cluster));
      wanted = sharedInfraEnv({ config, deployment, pullSecret }, identity);
      infraEnv = await ensureInfraEnv(client, wanted);
    } catch (error) {
      return failed('InfraEnvFailed', error);
    }
    const problem = notOurs(infraEnv, wanted) ?? foreignProblem(infraEnv, step);
    if (problem !== undefined) return taken(problem);
    const ignored = ignoredSettings(infraEnv, wanted);
    if (ignored.length > 0)
      events.warning(config, 'InfraEnvSettingsIgnored', ignoredNote(infraEnv, ignored), { related: infraEnv });
    return infraEnvLeaves(infraEnv) ?? infraEnv;
  }

  async #keep({ cluster, config, context }: Followed, template: Omit<KeptTemplate, 'cluster'>): Promise<void> {
    const { client, events } = context;
    if (await this.#options.templates.keep(client, { ...template, cluster })) return;
    const { namespace = '' } = cluster.metadata;
    const name = derivedTemplateName(template.identity);
    events.warning(config, 'TemplateNameTaken', takenTemplate({ namespace, name }));
  }
}

const waitingForIso = ({ metadata: { name } }: InfraEnv): WaitingVerdict => ({
  type: 'waiting',
  reason: 'WaitingForLiveISOURL',
  message: `InfraEnv ${name} has no status.isoDownloadURL yet`,
  againMs: AGAIN_MS,
});

const noInfraMachine = (name: string): WaitingVerdict => ({
  type: 'waiting',
  reason: 'WaitingForInfrastructureMachine',
  message: `Metal3Machine ${name} does not exist yet`,
  againMs: AGAIN_MS,
});

const unsupported = ({
  kind,
  apiGroup,
}: {
  readonly kind: string;
  readonly apiGroup: string;
}): WaitingVerdict => ({
  type: 'waiting',
  reason: 'UnsupportedInfrastructure',
  message: `the boot method live-iso writes the address of an ISO to a Metal3Machine; the infrastructure of this Machine is a ${kind} of ${apiGroup}; use the boot method ignition for it`,
  isWarning: true,
});

const taken = (message: string): WaitingVerdict => ({
  type: 'waiting',
  reason: 'InfraEnvFailed',
  message,
  isWarning: true,
  isUnfinished: true,
  againMs: AGAIN_MS,
});

function foreignProblem(infraEnv: InfraEnv, { deployment }: BootStep): string | undefined {
  const foreign = foreignCluster(infraEnv, deployment);
  return foreign === undefined
    ? undefined
    : `InfraEnv ${infraEnv.metadata.name} brings hosts to ClusterDeployment ${foreign}, which is gone or another one; delete the InfraEnv, and it is made anew`;
}

const ignoredNote = ({ metadata: { name } }: InfraEnv, ignored: readonly string[]): string =>
  `InfraEnv ${name} was made for another config of the same template and has other settings: ${ignored.join(', ')}; configs that want other settings need an infrastructure machine template of their own`;
