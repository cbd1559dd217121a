import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../src/base/errors.ts';
import type { Credential } from '../../src/pki/certificate-authority.ts';
import { kubeconfig } from '../../src/pki/kubeconfig.ts';
import { type Certificates, createCertificates, issueUser, writeSecret } from '../certs.ts';
import { type Purpose, startEtcd } from './etcd.ts';
import { ExitGuard } from './exit-guard.ts';
import {
  createInstanceDirectory,
  ensureOwnDirectory,
  keepFailedInstance,
  sweepLeftovers,
} from './instance-directory.ts';
import { startKubeApiserver } from './kube-apiserver.ts';
import { CONTROLLER_MANAGER_USER, startKubeControllerManager } from './kube-controller-manager.ts';
import { SCHEDULER_USER, startKubeScheduler } from './kube-scheduler.ts';
import type { PickPort } from './port.ts';

export interface ControlPlaneOptions {
  readonly programs: {
    readonly etcd: string;
    readonly kubeApiserver: string;
    /** Left out: namespaces get no ServiceAccounts and nothing is garbage-collected, but the start is faster. */
    readonly kubeControllerManager?: string | undefined;
    /** Left out: pods stay without a node. */
    readonly kubeScheduler?: string | undefined;
  };
  readonly extraArguments?: {
    readonly etcd?: readonly string[];
    readonly kubeApiserver?: readonly string[];
    readonly kubeControllerManager?: readonly string[];
    readonly kubeScheduler?: readonly string[];
  };
  /** Where instance directories are made and left-overs are looked for: ours alone, also in a shared place. */
  readonly baseDirectory: string;
  readonly purpose: Purpose;
  readonly now: () => Date;
  readonly pickPort: PickPort;
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  readonly isOutputAttached: boolean;
}

interface Parts {
  readonly url: string;
  readonly directory: string;
  readonly admin: string;
  readonly users: UserFiles;
  readonly processes: AsyncDisposableStack;
}

/** etcd, kube-apiserver and what else is asked for on loopback, with a directory of their own. */
export class ControlPlane implements AsyncDisposable {
  readonly url: string;
  readonly directory: string;
  /** Path of a kubeconfig in the group `system:masters`. */
  readonly admin: string;
  readonly authorityPem: string;
  readonly #users: UserFiles;
  readonly #processes: AsyncDisposableStack;

  private constructor({ url, directory, admin, users, processes }: Parts) {
    this.url = url;
    this.directory = directory;
    this.admin = admin;
    this.authorityPem = users.certificates.authority.certificatePem;
    this.#users = users;
    this.#processes = processes;
  }

  /** Resolves when everything is ready. On failure everything is stopped, and the message names the kept logs. */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    await ensureOwnDirectory(options.baseDirectory);
    await sweepLeftovers(options.baseDirectory);
    const directory = await createInstanceDirectory(options.baseDirectory);
    const guard = new ExitGuard(directory);
    const processes = new AsyncDisposableStack();
    processes.defer(() => guard[Symbol.dispose]());
    try {
      return new ControlPlane(await startParts(options, { directory, guard, processes }));
    } catch (error) {
      await processes.disposeAsync();
      const kept = await keepFailedInstance(directory);
      throw new Error(`The control plane did not start (logs are kept in ${kept}): ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** Path of a new kubeconfig for a user that the API server knows by this name and these groups only. */
  user(name: string, groups: readonly string[] = []): Promise<string> {
    return this.#users.create(name, groups, this.url);
  }

  /** Stops in reverse order of the start (oracles/P5) and removes the directory. Again: does nothing. */
  async stop(): Promise<void> {
    if (this.#processes.disposed) return;
    await this.#processes.disposeAsync();
    await rm(this.directory, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

interface Instance {
  readonly directory: string;
  readonly guard: ExitGuard;
  readonly processes: AsyncDisposableStack;
}

async function startParts(options: ControlPlaneOptions, instance: Instance): Promise<Parts> {
  const { programs, extraArguments = {} } = options;
  const { directory, processes } = instance;
  const certificates = await createCertificates(directory, options.now());
  const users = new UserFiles(directory, certificates, options.now);
  const shared = { ...options, ...instance, certificates };

  processes.use(await startEtcd({ ...shared, file: programs.etcd, extraArguments: extraArguments.etcd }));

  const apiserver = await startKubeApiserver({
    ...shared,
    file: programs.kubeApiserver,
    hasControllerManager: programs.kubeControllerManager !== undefined,
    extraArguments: extraArguments.kubeApiserver,
  });
  processes.use(apiserver.process);

  if (programs.kubeControllerManager !== undefined) {
    const kubeconfigFile = await users.create(CONTROLLER_MANAGER_USER, [], apiserver.url);
    const file = programs.kubeControllerManager;
    const serverUrl = apiserver.url;
    const manager = {
      ...shared,
      file,
      serverUrl,
      kubeconfigFile,
      extraArguments: extraArguments.kubeControllerManager,
    };
    processes.use(await startKubeControllerManager(manager));
  }
  if (programs.kubeScheduler !== undefined) {
    const kubeconfigFile = await users.create(SCHEDULER_USER, [], apiserver.url);
    const file = programs.kubeScheduler;
    const scheduler = { ...shared, file, kubeconfigFile, extraArguments: extraArguments.kubeScheduler };
    processes.use(await startKubeScheduler(scheduler));
  }
  const admin = await users.write('admin', certificates.admin, apiserver.url);
  return { url: apiserver.url, directory, admin, users, processes };
}

/** Makes kubeconfig files for users of one control plane. */
class UserFiles {
  readonly certificates: Certificates;
  readonly #directory: string;
  readonly #now: () => Date;
  #written = 0;

  constructor(directory: string, certificates: Certificates, now: () => Date) {
    this.certificates = certificates;
    this.#directory = directory;
    this.#now = now;
  }

  async create(name: string, groups: readonly string[], server: string): Promise<string> {
    return this.write(
      name,
      await issueUser(this.certificates.authority, { name, groups, now: this.#now() }),
      server,
    );
  }

  /** User names may hold any character, so the file is named by number. JSON is YAML, which is what programs read. */
  async write(userName: string, credential: Credential, server: string): Promise<string> {
    const { certificatePem: authorityPem } = this.certificates.authority;
    const file = join(this.#directory, `user-${++this.#written}.kubeconfig`);
    const document = kubeconfig({ server, authorityPem, clusterName: 'oracle', userName, credential });
    await writeSecret(file, JSON.stringify(document, null, 2));
    return file;
  }
}
