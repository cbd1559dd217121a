import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import type { JsonObject } from '../../src/object/json.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import {
  configMapKind,
  configMaps,
  Definitions,
  deploymentKind,
  deployments,
  serviceKind,
  services,
} from './apply/built-ins.ts';
import { Client } from './apply/client.ts';
import { type Kind, Session, type Step, type Tally } from './apply/session.ts';
import {
  configProblems,
  LATER_WIDGET,
  WIDGET,
  WIDGET_DEFINITION,
  widgetStatuses,
  widgets,
} from './apply/widget.ts';

const SEED = 20_260_801;
const RUNS = 25;
const MANAGERS = ['alice', 'bob', 'carol'];

type Kinds = readonly [Kind, ...Kind[]];

const step = (verb: Step['verb'], content: fc.Arbitrary<JsonObject>): fc.Arbitrary<Step> =>
  fc.record({
    verb: fc.constant(verb),
    manager: fc.constantFrom(...MANAGERS),
    force: fc.boolean(),
    content,
    version: fc.constant(0),
  });

const widgetSteps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: step('apply', widgets(true)) },
    { weight: 2, arbitrary: step('put', widgets(false)) },
    { weight: 2, arbitrary: step('merge', widgets(true)) },
    { weight: 1, arbitrary: step('apply', configProblems) },
    { weight: 1, arbitrary: step('status-apply', widgetStatuses) },
    { weight: 1, arbitrary: step('status-merge', widgetStatuses) },
    { weight: 1, arbitrary: step('forget', fc.constant({})) },
  ),
  { minLength: 6, maxLength: 10 },
);

const builtInSteps = (content: fc.Arbitrary<JsonObject>): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: step('apply', content) },
      { weight: 2, arbitrary: step('put', content) },
      { weight: 1, arbitrary: step('merge', content) },
      { weight: 1, arbitrary: step('forget', fc.constant({})) },
    ),
    { minLength: 5, maxLength: 8 },
  );

describe(
  'server-side apply beside a real kube-apiserver',
  needsAll(needsOracle('etcd', { min: '3.5.13' }), needsOracle('kube-apiserver')),
  () => {
    let cluster: ControlPlane;
    let client: Client;
    const tally: Tally = { objects: 0, entries: 0, conflicts: 0, problems: 0 };
    let names = 0;

    before(async () => {
      cluster = await startKubernetes();
      client = new Client(cluster.admin);
      await client.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGET_DEFINITION);
      await isServed(`/apis/${LATER_WIDGET.apiVersion}/namespaces/default/widgets`);
    });
    after(async () => {
      client[Symbol.dispose]();
      await cluster.stop();
    });

    /** A definition is served a moment after it is accepted. */
    async function isServed(path: string): Promise<void> {
      for (let attempt = 0; attempt < 5000; attempt++) {
        const { status } = await client.send('GET', path);
        if (status === 200) return;
      }
      assert.fail(`${path} is not served`);
    }

    async function play(kinds: Kinds, steps: readonly Step[]): Promise<void> {
      const session = new Session(client, kinds, { name: `object-${names++}`, tally });
      for (const next of steps) await session.run(JSON.parse(JSON.stringify(next)));
    }

    const compared = (before: Tally): Tally => ({
      objects: tally.objects - before.objects,
      entries: tally.entries - before.entries,
      conflicts: tally.conflicts - before.conflicts,
      problems: tally.problems - before.problems,
    });

    async function check(kinds: Kinds, steps: fc.Arbitrary<Step[]>, numRuns: number): Promise<Tally> {
      const start = { ...tally };
      await fc.assert(
        fc.asyncProperty(steps, (run) => play(kinds, run)),
        { seed: SEED, numRuns, endOnFailure: true },
      );
      return compared(start);
    }

    const definitionsOf = async (path: string): Promise<Definitions> =>
      new Definitions((await client.send('GET', `/openapi/v3/${path}`)).body);

    it('gives custom resources the same fields and the same owners', async (test) => {
      const done = await check([WIDGET], widgetSteps, RUNS);
      test.diagnostic(JSON.stringify(done));
      assert.ok(done.entries > 80 && done.conflicts > 5 && done.problems > 0, JSON.stringify(done));
    });

    it('keeps owners when appliers and writers speak different versions', async (test) => {
      const steps = widgetSteps.chain((all) =>
        fc.tuple(...all.map((one) => fc.nat({ max: 1 }).map((version) => ({ ...one, version })))),
      );
      const done = await check([WIDGET, LATER_WIDGET], steps, RUNS);
      test.diagnostic(JSON.stringify(done));
      assert.ok(done.entries > 40 && done.conflicts > 2, JSON.stringify(done));
    });

    const fixed = (verb: Step['verb'], manager: string, content: JsonObject): Step => ({
      verb,
      manager,
      content,
      force: false,
      version: 0,
    });

    it('apiserver/S5: remembers ten writers by name and the others together', async () => {
      const writers = Array.from({ length: 14 }, (_, at) => `writer-${String.fromCharCode(97 + at)}`);
      const writes = writers.map((writer) => fixed('merge', writer, { spec: { labels: { [writer]: 'x' } } }));
      await play(
        [WIDGET],
        [fixed('put', 'maker', { spec: {} }), ...writes, fixed('apply', 'alice', { spec: { text: 'x' } })],
      );
    });

    it('apiserver/S15: lets kubectl take over what it once applied from the client', async () => {
      const annotations = {
        'kubectl.kubernetes.io/last-applied-configuration':
          '{"apiVersion":"apply.slipway.test/v1","kind":"Widget","metadata":{},"spec":{"text":"x","count":1}}',
      };
      await play(
        [WIDGET],
        [
          fixed('put', 'kubectl-client-side-apply', {
            metadata: { annotations },
            spec: { text: 'x', count: 1, labels: { k: 'x' } },
          }),
          fixed('apply', 'other', { spec: { text: 'y' } }),
          fixed('apply', 'kubectl', { spec: { text: 'y', count: 2, labels: { k: 'y' } } }),
          fixed('apply', 'kubectl', { metadata: { annotations: { note: '<b>' } }, spec: { text: 'y', count: 2 } }),
          fixed('apply', 'kubectl', { spec: { text: 'y' } }),
        ],
      );
    });

    const builtIns = [
      { path: 'api/v1', kindOf: configMapKind, content: configMaps },
      { path: 'api/v1', kindOf: serviceKind, content: services },
      { path: 'apis/apps/v1', kindOf: deploymentKind, content: deployments },
    ];
    for (const { path, kindOf, content } of builtIns) {
      it(`gives objects made by ${kindOf.name.replace('Kind', '')} the same owners, byte for byte`, async (test) => {
        const kind = kindOf(await definitionsOf(path));
        const done = await check([kind], builtInSteps(content), RUNS);
        test.diagnostic(JSON.stringify(done));
        assert.ok(done.entries > 40, JSON.stringify(done));
      });
    }
  },
);
