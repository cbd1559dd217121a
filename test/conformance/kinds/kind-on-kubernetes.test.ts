import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import * as z from 'zod';
import type { ControlPlane } from '../../../oracles/run/control-plane.ts';
import { defineKind } from '../../../src/api/schema/define-kind.ts';
import { cel } from '../../../src/api/schema/extensions.ts';
import { lintKind } from '../../../src/api/schema/lint-kind.ts';
import { microTime, time } from '../../../src/api/time.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/object/json.ts';
import { ApiClient, accessFrom } from '../../support/api-client.ts';
import { kubectl } from '../../support/kubectl.ts';
import { startKubernetes } from '../../support/kubernetes.ts';
import { needsAll, needsOracle } from '../../support/needs-oracle.ts';
import { schemaArbitrary } from '../../support/schema-arbitrary.ts';
import { at } from '../../support/served-api.ts';
import { Widget } from '../../support/widget-kind.ts';

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('kubectl'));
const WIDGETS = '/apis/kinds.slipway.example/v1/namespaces/default/widgets';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const RUNS = 60;

const widget = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'kinds.slipway.example/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
});

describe('a definition on kube-apiserver', needs, () => {
  let cluster: ControlPlane;
  let client: ApiClient;

  before(async () => {
    cluster = await startKubernetes();
    client = new ApiClient(accessFrom(cluster.admin));
  });
  after(async () => {
    client[Symbol.dispose]();
    await cluster[Symbol.asyncDispose]();
  });

  async function post(
    path: string,
    body: JsonObject,
  ): Promise<{ readonly status: number; readonly body: JsonObject }> {
    const answer = await client.send({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: JSON.parse(answer.body.toString('utf8')) };
  }

  async function applied(): Promise<JsonObject> {
    const file = join(dirname(cluster.admin), 'widget-crd.json');
    await writeFile(file, JSON.stringify(Widget.toCRD()));
    const apply = await kubectl(cluster.admin, 'apply', '--server-side', '--validate=strict', '-f', file);
    assert.equal(apply.code, 0, apply.stderr);
    assert.equal(apply.stderr, '');
    const wait = await kubectl(cluster.admin, 'wait', '--for=condition=Established', '-f', file);
    assert.equal(wait.code, 0, wait.stderr);
    const { stdout } = await kubectl(cluster.admin, 'get', '-f', file, '-o', 'json');
    return JSON.parse(stdout);
  }

  it('runtime/K7: is applied twice without a difference, and kept as it is written', async () => {
    const first = await applied();
    const second = await applied();
    // Every change of the specification counts the generation up.
    assert.deepEqual([at(first, 'metadata', 'generation'), at(second, 'metadata', 'generation')], [1, 1]);
    const written = at(Widget.toCRD(), 'spec', 'versions');
    assert.deepEqual([at(first, 'spec', 'versions'), at(second, 'spec', 'versions')], [written, written]);
  });

  it('runtime/K7: kubectl explain shows the descriptions', async () => {
    // The server publishes the new schema a moment later.
    const { stdout } = await eventually(
      () => kubectl(cluster.admin, 'explain', 'widgets.spec'),
      ({ code }) => code === 0,
    );
    assert.match(stdout, /What it looks like\./);
    assert.match(stdout, /How many there are\./);
    const whole = await kubectl(cluster.admin, 'explain', 'wd');
    assert.match(whole.stdout, /A thing with every feature/);
  });

  it('runtime/K1: objects are defaulted and checked as the types say', async () => {
    const created = await eventually(
      () => post(`${WIDGETS}?fieldValidation=Strict`, widget('defaults', { config: { own: true } })),
      ({ status }) => status === 201,
    );
    assert.deepEqual(created.body['spec'], Widget.parse(created.body).spec);
    for (const wrong of [
      { replicas: -1 },
      { timeout: 'soon' },
      { limits: { cpu: 'much' } },
      { source: { type: 'file', import: { url: 'http://a' } } },
      { window: { from: 2, to: 1 } },
    ]) {
      assert.equal((await post(WIDGETS, widget('wrong', wrong))).status, 422, JSON.stringify(wrong));
    }
  });

  it('runtime/K8: parse and the server accept the same objects and default them alike', async () => {
    const { spec = {} } = Widget.schema.properties ?? {};
    const { source: _source, window: _window, ...properties } = spec.properties ?? {};
    await fc.assert(
      fc.asyncProperty(schemaArbitrary({ ...spec, properties }), async (value: Json) => {
        assert.ok(isJsonObject(value));
        const object = widget('generated', value);
        const answer = await post(`${WIDGETS}?fieldValidation=Strict&dryRun=All`, object);
        assert.equal(answer.status, 201, JSON.stringify(answer.body));
        assert.deepEqual(answer.body['spec'], Widget.parse(object).spec);
      }),
      { numRuns: RUNS },
    );
  });

  it('runtime/K6: a rule over unbounded fields, of which the linter warns, is too expensive', async () => {
    const rule = 'self.items.all(a, self.items.all(b, a.tags.all(t, b.tags.all(u, t == u))))';
    const names = {
      group: 'a.example',
      version: 'v1',
      kind: 'Costly',
      plural: 'costlies',
      scope: 'Cluster',
    } as const;
    const rules = { spec: [cel(rule, 'all the same')] };
    const Costly = defineKind({
      ...names,
      spec: z.object({ items: z.array(z.object({ tags: z.array(z.string()) })) }),
      rules,
    });
    assert.equal(lintKind(Costly).length, 3);
    const refused = await post(CRDS, Costly.toCRD());
    assert.equal(refused.status, 422);
    assert.match(JSON.stringify(refused.body), /exceeds budget/);
    const Cheap = defineKind({
      ...names,
      spec: z.object({ items: z.array(z.object({ tags: z.array(z.string().max(10)).max(3) })).max(5) }),
      rules,
    });
    assert.deepEqual(lintKind(Cheap), []);
    assert.equal((await post(CRDS, Cheap.toCRD())).status, 201);
  });

  it('runtime/K9: a Lease takes times with six digits and refuses others', async () => {
    const date = new Date('2026-01-02T03:04:05.678Z');
    const lease = (name: string, renewTime: string): JsonObject => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name },
      spec: { renewTime },
    });
    const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const created = await post(LEASES, lease('good', microTime(date)));
    assert.equal(at(created.body, 'spec', 'renewTime'), '2026-01-02T03:04:05.678000Z');
    for (const wrong of [date.toISOString(), time(date)]) {
      assert.equal((await post(LEASES, lease('bad', wrong))).status, 400, wrong);
    }
  });
});

const POLL_MS = 200;
const ATTEMPTS = 100;

/** The last answer, once it is good or there were enough. */
async function eventually<T>(ask: () => Promise<T>, isGood: (answer: T) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask();
    if (isGood(answer) || attempt === ATTEMPTS) return answer;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
