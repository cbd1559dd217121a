import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { freePort } from '../../oracles/run/port.ts';
import type { Deployment } from '../../src/api/generated/apps-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { chosenProvider } from '../../src/app/cloud-operator/chosen-provider.ts';
import { installationOf } from '../../src/app/cloud-operator/installation.ts';
import { ScaledClock, SystemClock } from '../../src/base/clock.ts';
import {
  cloudOperator,
  type Installation,
  installationFiles,
  type OperatorProgram,
  type ProviderRegistry,
} from '../../src/cloud-operator/index.ts';
import { applyObject } from '../../src/kube/apply/apply-object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createRestMapper } from '../../src/kube/client/rest-mapper.ts';
import type { ExitCode } from '../../src/kube/manager/exit-code.ts';
import { tokenKubeconfig } from './ccm-oracle-program.ts';

/** Minutes that users wait become seconds; requests still have time enough on a busy machine. */
const FACTOR = 10;
/** Patient, so that a busy machine loses no leadership, and yet quick to take a Lease that was given back. */
const PATIENCE = [
  '--leader-elect-lease-duration=1200s',
  '--leader-elect-renew-deadline=900s',
  '--leader-elect-retry-period=5s',
];
/** Roles take a moment until the authorizer knows them. */
const AUTHORIZER_MS = 500;

const RUNS = {
  'cloud-operator': cloudOperator.run,
  'cloud-config-sync': cloudOperator.runConfigSync,
} as const;
type ProgramName = keyof typeof RUNS;
const BOTH: readonly ProgramName[] = ['cloud-operator', 'cloud-config-sync'];

export interface StartOptions extends Pick<OperatorProgram, 'kube'> {
  /** Not both. */
  readonly only?: readonly ProgramName[];
}

export interface OperatorInstallationOptions {
  readonly cluster: ControlPlane;
  readonly client: KubeClient;
  /** Of a partner's definition; all platforms unless told. */
  readonly provider?: string;
  /** What is done to the rendered objects before they are applied. */
  readonly edit?: (objects: readonly KubeObject[]) => readonly KubeObject[];
}

/** What `slipway render cloud-operator` renders, applied to a cluster; both programs run as the rendered ServiceAccount. */
export class OperatorInstallation {
  readonly installation: Installation;
  readonly objects: readonly KubeObject[];
  readonly registry: ProviderRegistry;
  readonly #options: OperatorInstallationOptions;
  readonly #id: string | undefined;
  readonly #kubeconfig: string;

  private constructor(
    options: OperatorInstallationOptions,
    parts: Pick<OperatorInstallation, 'installation' | 'objects' | 'registry'>,
    { id, kubeconfig }: { readonly id: string | undefined; readonly kubeconfig: string },
  ) {
    this.#options = options;
    this.#id = id;
    this.#kubeconfig = kubeconfig;
    this.installation = parts.installation;
    this.objects = parts.objects;
    this.registry = parts.registry;
  }

  static async apply(options: OperatorInstallationOptions): Promise<OperatorInstallation> {
    const { cluster, client, provider, edit = (all) => all } = options;
    const chosen = await chosenProvider(import.meta.dirname, provider);
    const wish = { image: 'example.com/operator:1', providerFile: provider ?? '' };
    const installation = installationOf(chosen, wish);
    const objects = edit(installationFiles(installation).flatMap((file) => file.objects));
    const mapper = createRestMapper(client, new SystemClock());
    for (const object of objects) await applyObject({ client, mapper }, object, { force: true });
    await sleep(AUTHORIZER_MS);
    const account = accountOf(objects);
    const { token } = await client.createToken(account);
    const kubeconfig = await tokenKubeconfig(cluster, account.namespace, token);
    const { registry, id } = chosen;
    return new OperatorInstallation(options, { installation, objects, registry }, { id, kubeconfig });
  }

  /** As the API server knows both programs. */
  get user(): string {
    const { namespace, name } = accountOf(this.objects);
    return `system:serviceaccount:${namespace}:${name}`;
  }

  get kubeconfig(): string {
    return this.#kubeconfig;
  }

  /** Both programs, as their containers would start them for a release; only addresses, files and times are the test's. */
  async start(version: string, { only = BOTH, ...instead }: StartOptions = {}): Promise<OperatorPrograms> {
    const { directory, authorityPem } = this.#options.cluster;
    const imagesFile = join(directory, 'images.json');
    const trustFile = join(directory, 'trust.pem');
    await writeFile(trustFile, authorityPem);
    const port = await freePort();
    const programs = new OperatorPrograms({ imagesFile, images: this.#images(version), port });
    await programs.haveImages('all');
    const more = {
      'cloud-operator': [`--images-json=${imagesFile}`, `--metrics-bind-address=127.0.0.1:${port}`],
      'cloud-config-sync': [`--system-trust-bundle=${trustFile}`],
    };
    for (const name of only) {
      programs.add(RUNS[name], { ...this.#program(name, version, more[name]), ...instead });
    }
    return programs;
  }

  #images(version: string): Readonly<Record<string, string>> {
    const { images } = this.installation;
    return Object.fromEntries(Object.keys(images).map((key) => [key, `example.com/${key}:${version}`]));
  }

  #program(name: ProgramName, version: string, more: readonly string[]) {
    const host = new SystemClock();
    return {
      argv: [
        ...this.#flagsOf(name),
        ...(this.#id === undefined ? [] : [`--provider=${this.#id}`]),
        ...PATIENCE,
        `--kubeconfig=${this.#kubeconfig}`,
        '--health-addr=0',
        '--logging-format=json',
        ...more,
      ],
      env: { RELEASE_VERSION: version },
      homeDir: homedir(),
      version: '0.0.0',
      clock: new ScaledClock({ factor: FACTOR, start: host.now(), hostStart: host.now() }, host),
      stdout: () => {},
      registry: this.registry,
      hostname: name,
    };
  }

  /** Of the rendered container, without the words that choose the program. */
  #flagsOf(name: ProgramName): readonly string[] {
    const deployment = this.objects.find((one): one is Deployment => one.kind === 'Deployment');
    const containers = deployment?.spec.template.spec?.containers ?? [];
    const args = containers.map((container) => container.args ?? []).find((words) => words[1] === name) ?? [];
    return args.slice(2);
  }
}

interface ProgramFiles {
  readonly imagesFile: string;
  readonly images: Readonly<Record<string, string>>;
  readonly port: number;
}

/** Both programs of one pod. */
export class OperatorPrograms implements AsyncDisposable {
  readonly #files: ProgramFiles;
  readonly #stop = new AbortController();
  readonly #ended: Promise<ExitCode>[] = [];
  #log = '';

  constructor(files: ProgramFiles) {
    this.#files = files;
  }

  add(
    run: (program: OperatorProgram) => Promise<ExitCode>,
    program: Omit<OperatorProgram, 'signal' | 'stderr'>,
  ): void {
    const stderr = (line: string) => {
      this.#log += line;
    };
    this.#ended.push(run({ ...program, signal: this.#stop.signal, stderr }));
  }

  /** Everything that they have logged. */
  get log(): string {
    return this.#log;
  }

  /** Of the metrics. */
  get port(): number {
    return this.#files.port;
  }

  get images(): Readonly<Record<string, string>> {
    return this.#files.images;
  }

  /** What the kubelet does when the ConfigMap changes; nobody tells the program. */
  async haveImages(which: 'all' | 'broken'): Promise<void> {
    const { imagesFile, images } = this.#files;
    await writeFile(imagesFile, which === 'all' ? JSON.stringify(images) : '{"cloudControllerManagerAWS": ');
  }

  /** In order; gives the codes with which the containers would end. */
  async stop(): Promise<readonly ExitCode[]> {
    this.#stop.abort();
    return await Promise.all(this.#ended);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

function accountOf(objects: readonly KubeObject[]) {
  const account = objects.find(({ kind }) => kind === 'ServiceAccount');
  return { namespace: account?.metadata.namespace ?? '', name: account?.metadata.name ?? '' };
}
