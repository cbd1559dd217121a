import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import type { Deployment } from '../../src/api/generated/apps-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { RENDER_TARGETS } from '../../src/app/render/cloud-manager-files.ts';
import { SystemClock } from '../../src/base/clock.ts';
import type { InstallOptions } from '../../src/cloud/index.ts';
import { applyObject } from '../../src/kube/apply/apply-object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createRestMapper } from '../../src/kube/client/rest-mapper.ts';
import type { ProviderDefinition } from '../../src/sdk/provider/provider-definition.ts';
import { OracleProgram, type ProgramOptions, tokenKubeconfig } from './ccm-oracle-program.ts';

/** Not for the API server of this test: nobody runs pods, and there are no machines. */
const NOT_APPLIED: ReadonlySet<string> = new Set(['Deployment', 'MachineConfig']);

/** Faster than an installation, so that a hand-over takes seconds: no permission depends on it. */
const HASTE = [
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=1s',
  '--node-status-update-frequency=1s',
  '--node-monitor-period=1s',
  '--controller-start-interval=0s',
];

export interface InstallationOptions extends Omit<InstallOptions, 'image'> {
  readonly cluster: ControlPlane;
  readonly client: KubeClient;
  readonly definition: ProviderDefinition;
  /** What is done to the rendered objects before they are applied. */
  readonly edit?: (objects: readonly KubeObject[]) => readonly KubeObject[];
}

/** What `slipway render deploy` renders, applied to a cluster; its programs run as the rendered ServiceAccount. */
export class OracleInstallation {
  readonly objects: readonly KubeObject[];
  readonly #options: InstallationOptions;
  readonly #kubeconfig: string;
  readonly #flags: readonly string[];
  #started = 0;

  private constructor(options: InstallationOptions, objects: readonly KubeObject[], kubeconfig: string) {
    this.objects = objects;
    this.#options = options;
    this.#kubeconfig = kubeconfig;
    const deployment = objects.find((one): one is Deployment => one.kind === 'Deployment');
    const [container] = deployment?.spec?.template.spec?.containers ?? [];
    this.#flags = (container?.args ?? []).slice(2);
  }

  static async apply(options: InstallationOptions): Promise<OracleInstallation> {
    const { cluster, client, definition, edit = (all) => all, ...install } = options;
    const { files } = RENDER_TARGETS.deploy.render(definition, { image: 'example.com/ccm', ...install });
    const objects = edit(files.flatMap((file) => file.objects));
    await applyAll(client, objects);
    const account = accountOf(objects);
    const { token } = await client.createToken(account);
    const kubeconfig = await tokenKubeconfig(cluster, definition.name, token);
    return new OracleInstallation(options, objects, kubeconfig);
  }

  get namespace(): string {
    return accountOf(this.objects).namespace;
  }

  /** As the API server knows the program. */
  get user(): string {
    const { namespace, name } = accountOf(this.objects);
    return `system:serviceaccount:${namespace}:${name}`;
  }

  get kubeconfig(): string {
    return this.#kubeconfig;
  }

  /** One of its pods; each has a name of its own. */
  start(more: Partial<ProgramOptions> & { readonly flags?: readonly string[] } = {}): Promise<OracleProgram> {
    const { flags = [], ...rest } = more;
    return OracleProgram.start({
      flags: [...this.#flags, ...HASTE, ...flags],
      kubeconfig: this.#kubeconfig,
      definition: this.#options.definition,
      hostname: `${this.#options.definition.name}-${this.#started++}`,
      ...rest,
    });
  }
}

/** Roles take a moment until the authorizer knows them. */
const AUTHORIZER_MS = 500;

export async function applyAll(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  const mapper = createRestMapper(client, new SystemClock());
  for (const object of objects) if (!NOT_APPLIED.has(object.kind)) await applyObject({ client, mapper }, object);
  await sleep(AUTHORIZER_MS);
}

function accountOf(objects: readonly KubeObject[]) {
  const account = objects.find(({ kind }) => kind === 'ServiceAccount');
  return { namespace: account?.metadata.namespace ?? '', name: account?.metadata.name ?? '' };
}
