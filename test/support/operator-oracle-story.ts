import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { DaemonSet, Deployment } from '../../src/api/generated/apps-v1.ts';
import { ConfigMap, Pod } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { Kind, KubeObject, ObjectKey } from '../../src/api/object.ts';
import { ClusterOperator, Infrastructure, Proxy, SINGLETON } from '../../src/api/openshift/config-v1.ts';
import { time } from '../../src/api/time.ts';
import { APPLIED_KINDS } from '../../src/cloud-operator/apply/applier.ts';
import type { OperatorNames } from '../../src/cloud-operator/names.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { eventually } from './ccm-oracle-story.ts';
import type { OperatorPrograms } from './operator-oracle-installation.ts';

/** One object that the operator has deployed. */
export interface DeployedOperand {
  readonly kind: Kind;
  readonly key: ObjectKey;
  readonly object: KubeObject;
}

const FORCE = { force: true } as const;
const USERS = 'openshift-config';

/** What somebody does to an operand by hand. */
const EDITS: Readonly<Record<string, JsonObject>> = {
  Deployment: { spec: { replicas: 7 } },
  DaemonSet: { spec: { minReadySeconds: 7 } },
  PodDisruptionBudget: { spec: { minAvailable: 7 } },
  Service: { spec: { sessionAffinity: 'ClientIP', selector: { app: 'other' } } },
  Role: { rules: [] },
  ClusterRole: { rules: [] },
  RoleBinding: { subjects: [] },
  ClusterRoleBinding: { subjects: [] },
  ValidatingAdmissionPolicy: { spec: { failurePolicy: 'Ignore' } },
  ValidatingAdmissionPolicyBinding: { spec: { validationActions: ['Warn'] } },
};

/** What happens in a cluster where the cloud operator is at work; tells it as people and other controllers would. */
export class OperatorStory {
  readonly #client: KubeClient;
  readonly #names: OperatorNames;
  /** Of the release that works now. */
  programs: OperatorPrograms;

  constructor(client: KubeClient, names: OperatorNames, programs: OperatorPrograms) {
    this.#client = client;
    this.#names = names;
    this.programs = programs;
  }

  /** While the controllers of workloads do their work. */
  async available(version: string): Promise<void> {
    const said = `Available=True Progressing=False Degraded=False ${version}`;
    await this.#eventually(async () => {
      await this.rollOut();
      return (await this.#saying()) === said;
    }, said);
  }

  async says(type: string, status: string, text = ''): Promise<void> {
    await this.#eventually(async () => {
      const condition = (await this.#conditions()).find((one) => one.type === type);
      return condition?.status === status && `${condition.reason}: ${condition.message}`.includes(text);
    }, `${type} is ${status} ${text}`);
  }

  /** What there is, in the order in which the ClusterOperator names it. */
  async operands(): Promise<readonly DeployedOperand[]> {
    const { status } = await this.#client.live.get(ClusterOperator, this.#operator);
    const found: DeployedOperand[] = [];
    for (const { group, resource, namespace, name } of status?.relatedObjects ?? []) {
      const kind = APPLIED_KINDS.find((one) => one.group === group && one.plural === resource);
      if (kind === undefined || kind === ConfigMap) continue;
      const key = { name, ...(namespace !== undefined && { namespace }) };
      const object = await this.#client.live.find(kind, key);
      if (object !== undefined) found.push({ kind, key, object });
    }
    return found;
  }

  /** Somebody edits every operand, and nothing is left of it. */
  async editAll(): Promise<number> {
    const before = await this.operands();
    for (const { kind, key } of before) {
      const body = EDITS[kind.kind];
      assert.ok(body !== undefined, kind.kind);
      await this.#client.patch(kind, key, { type: 'merge', body });
    }
    await this.#eventually(async () => {
      const now = await this.operands();
      return before.every(({ kind, object }, at) => isSameContent(kind, object, now[at]?.object));
    }, 'every operand is as it was');
    return before.length;
  }

  /** Somebody deletes every operand, and all come back. */
  async deleteAll(): Promise<void> {
    const before = await this.operands();
    for (const { kind, key } of before) await this.#client.delete(kind, key);
    const uids = new Set(before.map(({ object }) => object.metadata.uid));
    await this.#eventually(async () => {
      const now = await this.operands();
      return now.length === before.length && now.every(({ object }) => !uids.has(object.metadata.uid));
    }, 'every operand is there again');
  }

  /** The content of the images ConfigMap breaks and heals; what wakes the operator is any event. */
  async breakImages(): Promise<void> {
    await this.programs.haveImages('broken');
    await this.#touch();
    await this.says('Degraded', 'True', 'images.json');
    await this.programs.haveImages('all');
    await this.#touch();
    await this.says('Degraded', 'False');
  }

  /** A pod that ends again and again, for longer than may pass without a word. */
  async crash(): Promise<void> {
    const [operand] = (await this.operands()).filter(({ kind }) => kind === Deployment);
    assert.ok(operand !== undefined);
    const { spec } = operand.object as Deployment;
    const { managedNamespace: namespace } = this.#names;
    const key = { namespace, name: 'crashed' };
    const labels = { ...spec.selector.matchLabels };
    const container = { name: 'cloud-controller-manager', image: 'example' };
    const pod = await this.#client.create(Pod, {
      metadata: { ...key, labels },
      spec: { containers: [container] },
    });
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off' };
    const state = { ...container, imageID: '', ready: false, restartCount: 4, state: { waiting } };
    await this.#client.updateStatus(Pod, { ...pod, status: { phase: 'Running', containerStatuses: [state] } });
    await this.rollOut(1);
    await this.says('Degraded', 'True', 'CrashLoopBackOff');
    await this.#client.delete(Pod, key, { gracePeriodSeconds: 0 });
    await this.rollOut();
    await this.says('Degraded', 'False');
  }

  /** Deleted, edited, and edited so that it cannot be changed any more: a ConfigMap that config-sync keeps. */
  async disturbConfig(name: string): Promise<void> {
    const key = { namespace: this.#names.managedNamespace, name };
    const { data } = await this.#client.live.get(ConfigMap, key);
    const isBack = (what: string) =>
      this.#eventually(async () => {
        const found = await this.#client.live.find(ConfigMap, key);
        return isDeepStrictEqual(found?.data, data) && found?.immutable !== true;
      }, `${name} is back after it was ${what}`);
    await this.#client.delete(ConfigMap, key);
    await isBack('deleted');
    const other = { data: { 'cloud.conf': 'other', 'ca-bundle.crt': 'other' } };
    await this.#client.patch(ConfigMap, key, { type: 'merge', body: other });
    await isBack('edited');
    await this.#client.patch(ConfigMap, key, { type: 'merge', body: { ...other, immutable: true } });
    await isBack('frozen');
  }

  /** What users gave and nobody can use is told to them, twice in the same words. */
  async giveUselessTrust(source: ObjectKey, pem: string): Promise<void> {
    const { managedNamespace } = this.#names;
    const bundle = { namespace: USERS, name: 'user-ca' };
    const give = async (text: string, at: number) => {
      await this.#client.apply(ConfigMap, { metadata: bundle, data: { 'ca-bundle.crt': text } }, FORCE);
      // Another text than that of the proxy, so that it counts.
      const data = { 'cloud.conf': `[Global]\nNoSuchKey = ${at}\n`, 'ca-bundle.pem': `${text}\n` };
      await this.#client.apply(ConfigMap, { metadata: source, data }, FORCE);
    };
    const trusted = async () => {
      const key = { namespace: managedNamespace, name: 'ccm-trusted-ca' };
      const { data = {} } = await this.#client.live.get(ConfigMap, key);
      return data['ca-bundle.crt']?.match(/BEGIN CERTIFICATE/g)?.length;
    };
    const body = { spec: { trustedCA: { name: bundle.name } } };
    await this.#client.patch(Proxy, SINGLETON, { type: 'merge', body });
    for (const times of [1, 2]) {
      await give('no certificate', times);
      for (const namespace of [USERS, managedNamespace])
        await this.#eventually(
          async () => (await this.#timesTold(namespace, 'TrustedCAIgnored')) >= times,
          `${namespace} was told ${times} times`,
        );
      await give(pem, times);
      await this.#eventually(async () => (await trusted()) === 3, 'all three authorities are trusted');
    }
    if (source.namespace === USERS) return;
    await this.#eventually(
      async () => (await this.#timesTold(source.namespace ?? '', 'CloudConfigPartlyIgnored')) >= 2,
      'whoever wrote the cloud config was told twice',
    );
    await this.#client.delete(ConfigMap, source);
  }

  async #timesTold(namespace: string, wanted: string): Promise<number> {
    const { items } = await this.#client.live.list(Event, { namespace });
    return Math.max(0, ...items.filter(({ reason }) => reason === wanted).map(({ series }) => series?.count ?? 1));
  }

  /** Somebody edits what config-sync gives to other operators. */
  async disturbShared(): Promise<void> {
    const key = { namespace: 'openshift-config-managed', name: 'kube-cloud-config' };
    const { data } = await this.#client.live.get(ConfigMap, key);
    await this.#client.patch(ConfigMap, key, { type: 'merge', body: { data: { 'cloud.conf': 'other' } } });
    await this.#eventually(
      async () => isDeepStrictEqual((await this.#client.live.find(ConfigMap, key))?.data, data),
      'the shared cloud config is as it was',
    );
  }

  /** An administrator takes everything away. */
  async remove(): Promise<void> {
    const before = await this.operands();
    const annotations = { 'slipway.dev/management-state': 'Removed' };
    await this.#client.patch(ClusterOperator, this.#operator, {
      type: 'merge',
      body: { metadata: { annotations } },
    });
    await this.#eventually(async () => {
      const left = await Promise.all(before.map(({ kind, key }) => this.#client.live.find(kind, key)));
      return left.every((one) => one === undefined);
    }, 'every operand is gone');
  }

  /** The cluster version operator would make it again, too. */
  async loseOperator(): Promise<void> {
    await this.#client.delete(ClusterOperator, this.#operator);
    await this.#eventually(
      async () => (await this.#client.live.find(ClusterOperator, this.#operator)) !== undefined,
      'the ClusterOperator is there again',
    );
  }

  /** What the controllers of workloads say when all pods run, or all but some. */
  async rollOut(missing = 0): Promise<void> {
    const { managedNamespace: namespace } = this.#names;
    for (const found of (await this.#client.live.list(Deployment, { namespace })).items) {
      const status = rolledOut(found, missing);
      if (!isDeepStrictEqual(status, found.status))
        await this.#client.updateStatus(Deployment, { ...found, status }).catch(ignoreConflict);
    }
    for (const found of (await this.#client.live.list(DaemonSet, { namespace })).items) {
      const status = spread(found);
      if (!isDeepStrictEqual(status, found.status))
        await this.#client.updateStatus(DaemonSet, { ...found, status }).catch(ignoreConflict);
    }
  }

  get #operator(): ObjectKey {
    return { name: this.#names.clusterOperator };
  }

  async #conditions() {
    const found = await this.#client.live.find(ClusterOperator, this.#operator);
    return found?.status?.conditions ?? [];
  }

  async #saying(): Promise<string> {
    const conditions = await this.#conditions();
    const shown = ['Available', 'Progressing', 'Degraded'].map(
      (type) => `${type}=${conditions.find((one) => one.type === type)?.status}`,
    );
    const found = await this.#client.live.find(ClusterOperator, this.#operator);
    return [...shown, found?.status?.versions?.[0]?.version].join(' ');
  }

  #touch(): Promise<unknown> {
    const annotations = { 'test/touched': String(performance.now()) };
    return this.#client.patch(Infrastructure, SINGLETON, { type: 'merge', body: { metadata: { annotations } } });
  }

  async #eventually(isTrue: () => Promise<boolean>, what: string): Promise<void> {
    try {
      await eventually(isTrue, what);
    } catch (cause) {
      const said = (await this.#conditions()).map(({ type, status, message }) => `${type}=${status} ${message}`);
      const log = this.programs.log.split('\n').slice(-20);
      throw new Error([String(cause), ...said, ...log].join('\n'), { cause });
    }
  }
}

/** Somebody else has written meanwhile: the next look finds it. */
function ignoreConflict(): void {}

const SINCE = time(new Date(0));

function rolledOut({ metadata, spec, status }: Deployment, missing: number): NonNullable<Deployment['status']> {
  const replicas = spec.replicas ?? 1;
  const { generation = 0 } = metadata;
  const done = { type: 'Progressing', status: 'True' as const, reason: 'NewReplicaSetAvailable', message: 'done' };
  return {
    observedGeneration: generation,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas - missing,
    availableReplicas: replicas - missing,
    ...(missing > 0 && { unavailableReplicas: missing }),
    conditions: status?.conditions ?? [{ ...done, lastUpdateTime: SINCE, lastTransitionTime: SINCE }],
  };
}

const spread = ({ metadata: { generation = 0 } }: DaemonSet): NonNullable<DaemonSet['status']> => ({
  currentNumberScheduled: 3,
  numberMisscheduled: 0,
  desiredNumberScheduled: 3,
  numberReady: 3,
  observedGeneration: generation,
  updatedNumberScheduled: 3,
  numberAvailable: 3,
});

/** What people see of an object: not when it was written, by whom, and how often. */
function isSameContent({ kind }: Kind, a: KubeObject, b: KubeObject | undefined): boolean {
  if (b === undefined) return false;
  const content = ({ metadata: _metadata, ...rest }: KubeObject) => {
    const { status: _status, ...more } = rest as KubeObject & { status?: unknown };
    return { ...more, kind };
  };
  return isDeepStrictEqual(content(a as never), content(b as never));
}
