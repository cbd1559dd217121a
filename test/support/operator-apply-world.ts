import { ConfigMap, Namespace, Secret } from '../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { Clock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import {
  APPLIED_KINDS,
  type Applied,
  type Applier,
  createApplier,
  prune,
} from '../../src/cloud-operator/apply/applier.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { EventRecorder } from '../../src/kube/events/event-recorder.ts';
import { isWrite, type Transport, type TransportRequest } from '../../src/kube/transport/transport.ts';
import { Operands } from './operator-apply-objects.ts';

export interface ApplyServer {
  readonly transport: Transport;
  readonly clock: Clock;
}

/** A namespace of one server: people in it, and an operator that can be killed and started again. */
export class ApplyWorld {
  readonly server: ApplyServer;
  /** Of somebody else. */
  readonly people: KubeClient;
  readonly operands: Operands;

  private constructor(server: ApplyServer, namespace: string) {
    this.server = server;
    this.people = clientOf(server, server.transport, 'people');
    this.operands = new Operands(namespace);
  }

  static async open(server: ApplyServer, namespace: string): Promise<ApplyWorld> {
    const world = new ApplyWorld(server, namespace);
    await world.people.create(Namespace, { metadata: { name: namespace } });
    await world.people.create(ConfigMap, { metadata: { name: 'configmap', namespace }, data: { foo: 'bar' } });
    await world.people.create(Secret, { metadata: { name: 'secret', namespace }, data: { foo: 'YmFy' } });
    return world;
  }

  get namespace(): string {
    return this.operands.namespace;
  }

  /** A process; it is killed after so many writes. */
  operator(killedAfter = Infinity): Operator {
    return new Operator(this.server, this.operands, killedAfter);
  }
}

const clientOf = ({ clock }: ApplyServer, transport: Transport, fieldManager: string): KubeClient =>
  createClient({ transport, fieldManager, clock, log: SILENT_LOG });

const CLUSTER_OPERATOR: KubeObject = {
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterOperator',
  metadata: { name: 'cloud-controller-manager' },
};

export class Operator {
  /** `Normal ResourceCreateSuccess Deployment/ccm: …`. */
  readonly events: string[] = [];
  /** Writes that were made: `PUT /apis/…`. Dry runs are none. */
  readonly writes: string[] = [];
  readonly dryRuns: string[] = [];
  /** Right before a write is sent. */
  beforeWrite: () => Promise<void> = async () => {};
  readonly client: KubeClient;
  readonly #applier: Applier;
  readonly #operands: Operands;
  readonly #recorder: EventRecorder;
  readonly #killedAfter: number;

  constructor(server: ApplyServer, operands: Operands, killedAfter: number) {
    this.#operands = operands;
    this.#killedAfter = killedAfter;
    this.client = clientOf(server, this.#watched(server.transport), 'operator');
    const tell =
      (type: string): EventRecorder['normal'] =>
      (_regarding, reason, note, { related } = {}) =>
        void this.events.push(`${type} ${reason} ${related?.kind}/${related?.metadata.name}: ${note}`);
    this.#recorder = { normal: tell('Normal'), warning: tell('Warning') };
    this.#applier = createApplier(this.#options());
  }

  get isDead(): boolean {
    return this.writes.length >= this.#killedAfter;
  }

  apply(object: KubeObject): Promise<Applied> {
    return this.#applier.apply(object);
  }

  async applyAll(objects: readonly KubeObject[]): Promise<readonly Applied[]> {
    const results: Applied[] = [];
    for (const object of objects) results.push(await this.apply(object));
    return results;
  }

  prune(kept: readonly KubeObject[]): Promise<readonly KubeObject[]> {
    const { namespace, labels } = this.#operands;
    const kinds = APPLIED_KINDS.map((kind) => ({ kind, namespaces: [namespace] }));
    return prune({ ...this.#options(), kinds }, kept, labels);
  }

  #options() {
    return { client: this.client, events: this.#recorder, regarding: CLUSTER_OPERATOR, log: SILENT_LOG };
  }

  #watched(transport: Transport): Transport {
    return async (request) => {
      if (!isWrite(request)) return transport(request);
      if (isDryRun(request)) {
        this.dryRuns.push(lineOf(request));
        return transport(request);
      }
      await this.beforeWrite();
      if (this.isDead) throw new Error('killed');
      const answer = await transport(request);
      if (answer.status < 300) this.writes.push(lineOf(request));
      if (this.isDead) throw new Error('killed');
      return answer;
    };
  }
}

const isDryRun = ({ target }: TransportRequest): boolean => target.includes('dryRun=All');
const lineOf = ({ method, target }: TransportRequest): string => `${method} ${target.replace(/\?.*/, '')}`;
