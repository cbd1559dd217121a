import { rm } from 'node:fs/promises';
import type { ObjectKey } from '../../../api/object.ts';
import { openshiftDefinitions } from '../../../api/openshift/definitions.schema.ts';
import type { Log } from '../../../base/log.ts';
import { NetworkError } from '../../../kube/client/api-error.ts';
import { createClient } from '../../../kube/client/create-client.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { LabClock } from '../../clock/lab-clock.ts';
import type { LaterClusters } from '../../cluster/later-clusters.ts';
import { nodeRoot } from '../../cluster/own-nodes.ts';
import type { BareMachine, BareMachines } from '../../machine/instance-nodes.ts';
import type { StandIn } from '../../workloads/start-workloads.ts';
import {
  type ClusterVersionOptions,
  clusterVersionController,
  type VersionOfImage,
} from './cluster-version-controller.ts';
import { beginInstallation, domainOf } from './installed-openshift.ts';
import { LabWorkload } from './lab-workload.ts';
import { ReleaseLookup } from './release-lookup.ts';
import type { WorkloadCluster, WorkloadClusters, WorkloadWish } from './workload-clusters.ts';
import { isSameServer } from './workload-kubeconfig.ts';
import { type ClusterRecord, readRecords, writeRecords } from './workload-records.ts';

export interface LabWorkloadsOptions extends Partial<ClusterVersionOptions> {
  readonly clusters: LaterClusters;
  readonly clock: LabClock;
  readonly log: Log;
  /** Where they are remembered for the next start; nowhere unless given. */
  readonly file?: string;
}

/**
 * Clusters that are installed on machines of a lab that runs: each is a cluster of the lab, with nodes that run pods.
 * Disposing it ends them; a lab that keeps its data has them again at its next start.
 */
export class LabWorkloads implements WorkloadClusters, BareMachines, AsyncDisposable {
  readonly #options: LabWorkloadsOptions;
  readonly #releases: ReleaseLookup;
  /** By key; bounded by what was ensured and not removed. */
  readonly #starting = new Map<string, Promise<LabWorkload>>();
  readonly #running = new Map<string, LabWorkload>();
  /** Those that are on, by identifier. */
  readonly #machines = new Map<string, BareMachine>();
  #saving: Promise<void> = Promise.resolve();
  #isStopped = false;

  private constructor(options: LabWorkloadsOptions) {
    this.#options = options;
    this.#releases = new ReleaseLookup(options.versionOfImage);
  }

  /** Starts what was there when the lab ended; nodes on instances of the cloud wait for these to be on. */
  static async start(options: LabWorkloadsOptions): Promise<LabWorkloads> {
    await using parts = new AsyncDisposableStack();
    const workloads = parts.use(new LabWorkloads(options));
    const records = options.file === undefined ? [] : await readRecords(options.file);
    for (const record of records) await workloads.#begin(record);
    for (const record of records) await workloads.#running.get(textOf(record.key))?.startNodes();
    parts.move();
    return workloads;
  }

  async ensure(key: ObjectKey, wish: WorkloadWish): Promise<WorkloadCluster> {
    return await (this.#starting.get(textOf(key)) ?? this.#begin(this.#newRecord(key, wish)));
  }

  find(key: ObjectKey): WorkloadCluster | undefined {
    return this.#running.get(textOf(key));
  }

  byKubeconfig(kubeconfig: string): WorkloadCluster | undefined {
    return this.#byKubeconfig(kubeconfig);
  }

  async connect(kubeconfig: string): Promise<KubeClient> {
    const { clock, log } = this.#options;
    const found = this.#byKubeconfig(kubeconfig);
    if (found === undefined)
      throw new NetworkError('no API server of the lab answers where the kubeconfig leads', {
        mayHaveHappened: false,
      });
    const transport = found.cluster.api.way.as('admin', ['system:masters']);
    return createClient({ transport, fieldManager: 'slipway/lab', clock, log });
  }

  async remove(key: ObjectKey): Promise<void> {
    const text = textOf(key);
    const workload = await this.#starting.get(text)?.catch(() => undefined);
    if (workload === undefined || !this.#running.delete(text)) return;
    await this.#save();
    await workload.end();
    await this.#options.clusters.remove(workload.cluster);
    this.#starting.delete(text);
  }

  async leave(hostId: string): Promise<void> {
    await Promise.all([...this.#running.values()].map((workload) => workload.leave(hostId)));
  }

  useReleases(versionOfImage: VersionOfImage): Disposable {
    return this.#releases.use(versionOfImage);
  }

  async machineOn(machine: BareMachine): Promise<void> {
    this.#machines.set(machine.id, machine);
    await Promise.all([...this.#running.values()].map((workload) => workload.hostOn(machine.id)));
  }

  async machineOff(id: string): Promise<void> {
    this.#machines.delete(id);
    await Promise.all([...this.#running.values()].map((workload) => workload.hostOff(id)));
  }

  async machineGone(id: string): Promise<void> {
    if (!this.#isStopped) await this.leave(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await Promise.allSettled(this.#starting.values());
    await Promise.all([...this.#running.values()].map((workload) => workload.end()));
    await this.#saving;
    await this.#options.clusters[Symbol.asyncDispose]();
  }

  #byKubeconfig(kubeconfig: string): LabWorkload | undefined {
    return [...this.#running.values()].find((workload) => isSameServer(workload.kubeconfig, kubeconfig));
  }

  #newRecord(key: ObjectKey, wish: WorkloadWish): ClusterRecord {
    const { clusters } = this.#options;
    const { namespace, name } = key;
    const numbered = Array.from({ length: 31 }, (_, at) => `${name}-${at + 2}`);
    return {
      key: { name, ...(namespace !== undefined && { namespace }) },
      name: clusters.freeName([name, `${namespace ?? 'default'}-${name}`, ...numbered]),
      index: clusters.freeIndex(),
      wish: { ...wish },
      nodes: [],
    };
  }

  /** Once for each key: whoever comes meanwhile waits for the same. */
  #begin(record: ClusterRecord): Promise<LabWorkload> {
    const text = textOf(record.key);
    const starting = this.#start(record).catch((error: unknown) => {
      this.#starting.delete(text);
      throw error;
    });
    this.#starting.set(text, starting);
    return starting;
  }

  async #start(record: ClusterRecord): Promise<LabWorkload> {
    const { clusters, clock } = this.#options;
    const { key, name, index, wish } = record;
    const text = textOf(key);
    using _hold = clock.hold(`cluster ${text} starts`);
    const { cluster, kubeconfig } = await clusters.start({
      name,
      index,
      domain: domainOf(wish),
      crds: openshiftDefinitions(),
      moreStandIns: [this.#updates()],
    });
    const workload = new LabWorkload({
      record,
      cluster,
      kubeconfig,
      clock,
      machine: (id) => this.#machines.get(id),
      save: () => this.#save(),
      wipe: (node) => rm(nodeRoot(clusters.directoryOf(index), node), { recursive: true, force: true }),
    });
    this.#running.set(text, workload);
    // Remembered before there is anything in it that somebody could miss.
    await this.#save();
    await beginInstallation(cluster.client, wish, clock);
    return workload;
  }

  #updates(): StandIn {
    const { updateMs } = this.#options;
    const { versionOfImage } = this.#releases;
    return {
      name: 'clusterVersion',
      user: 'system:serviceaccount:openshift-cluster-version:default',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:openshift-cluster-version'],
      reporter: 'cluster-version-operator',
      controllers: () => [
        clusterVersionController({ versionOfImage, ...(updateMs !== undefined && { updateMs }) }),
      ],
    };
  }

  /** One after the other, so that the last word is the newest. */
  #save(): Promise<void> {
    const { file, clock } = this.#options;
    if (file === undefined) return Promise.resolve();
    const saving = this.#saving.then(async () => {
      using _hold = clock.hold('the list of installed clusters');
      await writeRecords(
        file,
        [...this.#running.values()].map(({ record }) => record),
      );
    });
    this.#saving = saving.catch(() => {});
    return saving;
  }
}

const textOf = ({ namespace, name }: ObjectKey): string => `${namespace ?? ''}/${name}`;
