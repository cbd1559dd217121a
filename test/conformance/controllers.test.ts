import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/object/json.ts';
import { type EmbeddedServer, startEmbedded } from '../support/embedded.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { type Answer, OracleRequests } from './oracle-requests.ts';

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver'),
  needsOracle('kube-controller-manager'),
);

// The real controller waits 5 s before it empties a namespace, and looks at custom resources every 5 s.
const TIMEOUT_MS = 60_000;
const POLL_MS = 100;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const MASKED = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'lastTransitionTime',
  'firstTimestamp',
  'lastTimestamp',
  'managedFields',
]);

function masked(value: Json): Json {
  if (Array.isArray(value)) return value.map(masked);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !MASKED.has(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, masked(item)]));
}

/** One of the two servers, with what the scenarios need. */
class Side {
  readonly #requests: OracleRequests;

  constructor(requests: OracleRequests) {
    this.#requests = requests;
  }

  send(method: string, path: string, body?: JsonObject, headers?: Record<string, string>): Promise<Answer> {
    return this.#requests.send(method, path, body, headers);
  }

  /** Creates, and may have to wait for a namespace or kind to be served everywhere. */
  async create(path: string, body: JsonObject): Promise<JsonObject> {
    for (const startedMs = performance.now(); ; await sleep(POLL_MS)) {
      const answer = await this.send('POST', path, body).catch((error: unknown) => String(error));
      if (typeof answer === 'object' && answer.status === 201) return answer.body;
      if (performance.now() - startedMs > TIMEOUT_MS) assert.fail(JSON.stringify(answer));
    }
  }

  /** The answer to a GET when it is what is waited for. */
  async when(path: string, isIt: (answer: Answer) => boolean): Promise<Answer> {
    for (const startedMs = performance.now(); ; await sleep(POLL_MS)) {
      const answer = await this.send('GET', path);
      if (isIt(answer)) return answer;
      if (performance.now() - startedMs > TIMEOUT_MS) assert.fail(`${path} stays ${JSON.stringify(answer)}`);
    }
  }

  gone(path: string): Promise<Answer> {
    return this.when(path, ({ status }) => status === 404);
  }

  release(path: string): Promise<Answer> {
    return this.send('PATCH', path, { metadata: { finalizers: null } }, MERGE);
  }
}

const metadataOf = ({ body }: Answer): JsonObject => {
  const { metadata } = body;
  return isJsonObject(metadata) ? metadata : {};
};
const conditionsOf = ({ body }: Answer): readonly Json[] => {
  const { status } = body;
  return isJsonObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
};
const conditionReason = (answer: Answer, type: string): Json | undefined =>
  conditionsOf(answer)
    .filter(isJsonObject)
    .find((condition) => condition['type'] === type)?.['reason'];
const owner = (object: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: metadataOf({ status: 200, body: object })['name'] ?? '',
  uid: metadataOf({ status: 200, body: object })['uid'] ?? '',
  ...more,
});

/** A scenario gives what clients saw, step by step. */
type Scenario = (side: Side, namespace: string) => Promise<Json>;

const configMaps = (namespace: string, name = '') =>
  `/api/v1/namespaces/${namespace}/configmaps${name === '' ? '' : `/${name}`}`;

const make = (side: Side, namespace: string, name: string, metadata: JsonObject = {}) =>
  side.create(configMaps(namespace), { metadata: { name, ...metadata } });

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'apiserver/G3: a namespace with content that is held': async (side, namespace) => {
    const path = `/api/v1/namespaces/${namespace}`;
    await make(side, namespace, 'held', { finalizers: ['ex.io/f'] });
    const first = await side.send('DELETE', path);
    const waiting = await side.when(path, (answer) => conditionsOf(answer).length > 0);
    const refused = await side.send('POST', configMaps(namespace), { metadata: { name: 'new' } });
    const second = await side.send('DELETE', path, { propagationPolicy: 'Foreground' });
    await side.release(configMaps(namespace, 'held'));
    await side.gone(path);
    return [first.body, waiting.body, refused.body, second.status];
  },
  'apiserver/G2: a namespace with a pod that is held': async (side, namespace) => {
    const path = `/api/v1/namespaces/${namespace}`;
    await make(side, namespace, 'after', {});
    await side.create(`${path}/pods`, {
      metadata: { name: 'p', finalizers: ['ex.io/f'] },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await side.send('DELETE', path, { propagationPolicy: 'Orphan' });
    const waiting = await side.when(path, (answer) => conditionsOf(answer).length > 0);
    const untouched = await side.send('GET', configMaps(namespace, 'after'));
    await side.release(`${path}/pods/p`);
    await side.gone(path);
    return [waiting.body, untouched.status];
  },
  'apiserver/G5: background, down a chain, and dangling owners': async (side, namespace) => {
    const a = await make(side, namespace, 'a');
    const b = await make(side, namespace, 'b', { ownerReferences: [owner(a)] });
    const keep = await make(side, namespace, 'keep');
    await make(side, namespace, 'c', { ownerReferences: [owner(b)] });
    await make(side, namespace, 'shared', { ownerReferences: [owner(a), owner(keep)] });
    await make(side, namespace, 'lost', { ownerReferences: [owner(a, { uid: 'no-such-uid' })] });
    await side.gone(configMaps(namespace, 'lost'));
    const deleted = await side.send('DELETE', configMaps(namespace, 'a'));
    for (const name of ['a', 'b', 'c']) await side.gone(configMaps(namespace, name));
    const shared = await side.when(
      configMaps(namespace, 'shared'),
      (answer) => JSON.stringify(metadataOf(answer)['ownerReferences']).split('uid').length === 2,
    );
    return [deleted.status, shared.body];
  },
  'apiserver/G6: foreground, down a chain that is held': async (side, namespace) => {
    const a = await make(side, namespace, 'a');
    const blocking = { blockOwnerDeletion: true };
    const b = await make(side, namespace, 'b', { ownerReferences: [owner(a, blocking)] });
    await make(side, namespace, 'c', { ownerReferences: [owner(b, blocking)], finalizers: ['ex.io/f'] });
    const deleted = await side.send('DELETE', configMaps(namespace, 'a'), { propagationPolicy: 'Foreground' });
    const isEnding = (answer: Answer) => metadataOf(answer)['deletionTimestamp'] !== undefined;
    const c = await side.when(configMaps(namespace, 'c'), isEnding);
    const middle = await side.send('GET', configMaps(namespace, 'b'));
    const top = await side.send('GET', configMaps(namespace, 'a'));
    await side.release(configMaps(namespace, 'c'));
    await side.gone(configMaps(namespace, 'a'));
    return [deleted.body, c.body, middle.body, top.body];
  },
  'apiserver/G7: orphan': async (side, namespace) => {
    const a = await make(side, namespace, 'a');
    const keep = await make(side, namespace, 'keep');
    await make(side, namespace, 'd', { ownerReferences: [owner(a)] });
    await make(side, namespace, 'e', { ownerReferences: [owner(a), owner(keep)] });
    const deleted = await side.send('DELETE', configMaps(namespace, 'a'), { propagationPolicy: 'Orphan' });
    await side.gone(configMaps(namespace, 'a'));
    const [d, e] = [
      await side.send('GET', configMaps(namespace, 'd')),
      await side.send('GET', configMaps(namespace, 'e')),
    ];
    return [deleted.body, d.body, e.body];
  },
  'apiserver/G8: an owner in another namespace': async (side, namespace) => {
    const far = await make(side, 'default', `far-${namespace}`);
    await make(side, namespace, 'd', { ownerReferences: [owner(far)] });
    await side.gone(configMaps(namespace, 'd'));
    const about = `/api/v1/namespaces/${namespace}/events?fieldSelector=reason=OwnerRefInvalidNamespace`;
    const { body } = await side.when(about, (answer) => JSON.stringify(answer.body['items']) !== '[]');
    const text = JSON.stringify(body['items']).replace(/uid: [0-9a-f-]+/, 'uid: UID');
    const [event] = JSON.parse(text) as JsonObject[];
    return { ...event, metadata: {} };
  },
  'apiserver/X6: a definition with objects': async (side, namespace) => {
    const crd = `${CRDS}/things.controllers.test`;
    const things = `/apis/controllers.test/v1/namespaces/${namespace}/things`;
    const thing = { apiVersion: 'controllers.test/v1', kind: 'Thing' };
    await side.create(CRDS, {
      metadata: { name: 'things.controllers.test' },
      spec: {
        group: 'controllers.test',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    await side.when(crd, (answer) => conditionReason(answer, 'Established') === 'InitialNamesAccepted');
    await side.create(things, { ...thing, metadata: { name: 'held', finalizers: ['ex.io/f'] } });
    const deleted = await side.send('DELETE', crd, { propagationPolicy: 'Foreground' });
    const isUnderWay = (answer: Answer) => conditionReason(answer, 'Terminating') === 'InstanceDeletionInProgress';
    const waiting = await side.when(crd, isUnderWay);
    const refused = await side.send('POST', things, { ...thing, metadata: { name: 'new' } });
    await side.when(`${things}/held`, (answer) => metadataOf(answer)['deletionTimestamp'] !== undefined);
    const held = await side.send('GET', `${things}/held`);
    await side.release(`${things}/held`);
    await side.gone(crd);
    return [deleted.body, waiting.body, refused.body, held.body];
  },
  'apiserver/Z4: an aggregated role': async (side, namespace) => {
    const labels = { [`agg-${namespace}`]: 'true' };
    const rule = (resource: string, more: JsonObject = {}) => ({
      verbs: ['get'],
      apiGroups: [''],
      resources: [resource],
      ...more,
    });
    const role = (name: string, rules: JsonObject[]) =>
      side.create(ROLES, { metadata: { name: `${name}-${namespace}`, labels }, rules });
    await role('z', [rule('pods'), rule('nodes')]);
    await role('a', [rule('secrets'), rule('pods'), rule('pods', { resourceNames: ['x'] })]);
    await side.create(ROLES, {
      metadata: { name: `sum-${namespace}` },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
      rules: null,
    });
    const rulesIn = ({ body }: Answer) => (Array.isArray(body['rules']) ? body['rules'].length : 0);
    const sum = await side.when(`${ROLES}/sum-${namespace}`, (answer) => rulesIn(answer) === 4);
    return sum.body;
  },
};

describe('controllers beside the real ones', needs, () => {
  let cluster: ControlPlane | undefined;
  let embedded: EmbeddedServer;
  let sides: { readonly theirs: OracleRequests; readonly ours: OracleRequests };
  before(async () => {
    // One that runs already saves the start while working on the rules.
    const running = process.env['SLIPWAY_ORACLE_KUBECONFIG'];
    if (running === undefined) cluster = await startKubernetes({ controllerManager: true });
    embedded = await startEmbedded();
    sides = {
      theirs: new OracleRequests(running ?? cluster?.admin ?? ''),
      ours: new OracleRequests(await embedded.user('admin', ['system:masters'])),
    };
  });
  after(async () => {
    for (const side of Object.values(sides)) side[Symbol.dispose]();
    await embedded[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  const play = async (requests: OracleRequests, scenario: Scenario, namespace: string): Promise<Json> => {
    const side = new Side(requests);
    await side.create('/api/v1/namespaces', { metadata: { name: namespace } });
    const seen = masked(await scenario(side, namespace));
    await side.send('DELETE', `/api/v1/namespaces/${namespace}`);
    return seen;
  };

  // Upstream waits in many places: the scenarios wait together.
  describe('all at once', { concurrency: true }, () => {
    for (const [index, [name, scenario]] of Object.entries(SCENARIOS).entries()) {
      it(name, async () => {
        const namespace = `controllers-${index}`;
        const [theirs, ours] = await Promise.all([
          play(sides.theirs, scenario, namespace),
          play(sides.ours, scenario, namespace),
        ]);
        assert.deepEqual(ours, theirs);
      });
    }
  });
});
