// The reference pages that are made from the runtime: nothing of the code is missing in them, and they hold nothing else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { KIND_HEADINGS, KIND_PAGES, withFields } from '../scripts/docs-kinds.ts';
import { fencedBlocks } from '../scripts/docs-markdown.ts';
import {
  agentMetrics,
  cloudMetrics,
  METRIC_SOURCES,
  type MetricRow,
  runtimeMetrics,
} from '../scripts/docs-metrics.ts';
import { allPages, filesOf, reasonTexts, runtimeReasons } from '../scripts/docs-pages.ts';
import { listens, NO_PORT_OF_THEIR_OWN, PORTS } from '../scripts/docs-ports.ts';
import { scanReasons } from '../scripts/docs-reason-scan.ts';
import { parseReasonTexts, reasonProblems, reasonsPage } from '../scripts/docs-reasons.ts';
import { ConfigMap, Node } from '../src/api/generated/core-v1.ts';
import type { DefinedKind } from '../src/api/schema/define-kind.ts';
import { SystemClock } from '../src/base/clock.ts';
import { createLog } from '../src/base/log.ts';
import { loadKubeconfig } from '../src/kube/config/kubeconfig.ts';
import { controllerFor } from '../src/kube/controller/controller.ts';
import { DONE } from '../src/kube/controller/reconcile.ts';
import { createManager } from '../src/kube/manager/create-manager.ts';
import { Webhooks } from '../src/kube/webhook/webhooks.ts';
import { isRecord } from '../src/object/record.ts';
import { parseYaml } from '../src/object/yaml.ts';
import { TestEnv } from '../src/testing/test-env.ts';
import { acmeDefinition } from './support/acme-definition.ts';
import { freePort, startProgram } from './support/cloud-program.ts';
import { startEmbedded } from './support/embedded.ts';

const sources = filesOf(process.cwd(), 'src/**/*.ts').filter(({ path }) => !path.endsWith('.test.ts'));
/** Of ours, of what the runtime stands in for, and of the Go framework of cloud controller managers. */
const PREFIXES =
  /^(?:slipway|controller_runtime|workqueue|rest_client|leader_election|process|running_managed|cloud_provider|cloud_node_lifecycle_controller|openshift_assisted|(?:node|service|route)_controller)_[a-z_]+$/;
const fileNamed = (path: string, text: string) => [{ path, text }];

describe('docs/reference/reasons.md', () => {
  it('style/S36: has every reason that the sources give, and no other', () => {
    const { found, unreadable } = runtimeReasons(process.cwd());
    assert.deepEqual(unreadable, [], 'write the reason as a literal or a constant, so that it can be found');
    assert.ok(found.length > 100, `only ${found.length} reasons seen`);
    assert.deepEqual(reasonProblems(found, reasonTexts(process.cwd())), []);
  });

  const forms = [
    { text: `throw userError('BadThing', 'x')`, want: ['BadThing user'] },
    { text: `throw retryError(\n  'LateThing',\n  'x')`, want: ['LateThing retry'] },
    { text: `const LOST = 'LostThing';\nterminalError(LOST, 'x')`, want: ['LostThing terminal'] },
    {
      text: `const made = (reason: string, text: string) => terminalError(reason, text);\nmade('MadeThing', 'x')`,
      want: ['MadeThing terminal'],
    },
    { text: `super('retry', 'NoNet', message)`, want: ['NoNet retry'] },
    { text: `return { reason: 'ShownThing' }`, want: ['ShownThing condition'] },
    { text: `isRight(reason) ? reason : 'OtherThing'`, want: ['OtherThing condition'] },
    { text: `events.warning(object, 'ToldThing', 'x')`, want: ['ToldThing event'] },
    { text: `problems.error('ManyThings', 'x')`, want: ['ManyThings user'] },
    { text: `{ disposition: 'user',\n  reason: 'ListedThing', meaning: 'x' }`, want: ['ListedThing user'] },
    {
      text: `class Odd extends SlipwayError {\n constructor(reason: Word) { super('retry', reason, x) } }\nnew Odd('OddThing', x)`,
      want: ['OddThing retry'],
    },
    {
      text: `throw retryError(error.reason, 'x'); throw userError(code, 'x'); events.normal(object, reason, 'x'); events.warning(object, problem.reason, 'x')`,
      want: [],
    },
  ];
  for (const { text, want } of forms) {
    it(`finds ${want.join() || 'nothing'} in ${JSON.stringify(text)}`, () => {
      const { found, unreadable } = scanReasons(fileNamed('src/kube/x/y.ts', text));
      assert.deepEqual(
        found.map(({ reason, use }) => `${reason} ${use}`),
        want,
      );
      assert.deepEqual(unreadable, []);
    });
  }

  const agentForms = [
    { text: `return isUnmet(AVAILABLE, 'BadState', 'x')`, want: ['BadState condition'] },
    { text: `const AVAILABLE = 'Good';\nreturn isMet(AVAILABLE)`, want: ['Good condition'] },
    { text: `return wrong('BadWish', problem(it))`, want: ['BadWish condition'] },
    { text: `const TABLE = {\n  WaitingForIt: 'it is not there',\n};`, want: ['WaitingForIt condition'] },
    { text: `metadataValue(text, field, 'InvalidThing')`, want: ['InvalidThing user'] },
    { text: `{ reason: isSo ? 'So' : 'NotSo' }`, want: ['NotSo condition', 'So condition'] },
  ];
  for (const { text, want } of agentForms) {
    it(`finds ${want.join()} in ${JSON.stringify(text)} of the Agent providers`, () => {
      const { found } = scanReasons(fileNamed('src/agent/x/y.ts', text));
      assert.deepEqual(found.map(({ reason, use }) => `${reason} ${use}`).sort(), want);
    });
  }

  it('takes a constant of the file, then of the component, before that of another', () => {
    const constant = (path: string, reason: string) => ({ path, text: `const WHY = '${reason}';` });
    const use = { path: 'src/agent/x/y.ts', text: `throw userError(WHY, 'x')` };
    const all = [constant('src/agent/a/b.ts', 'Ours'), constant('src/lab/a/b.ts', 'Theirs'), use];
    assert.deepEqual(
      scanReasons(all).found.map(({ reason }) => reason),
      ['Ours'],
    );
  });

  it('takes from the lab its errors, not what it says as Kubernetes', () => {
    const text = `events.warning(pod, 'BackOff', 'x'); throw userError('NoCloud', 'x'); return { reason: 'Evicted' }`;
    const { found } = scanReasons(fileNamed('src/lab/x/y.ts', text));
    assert.deepEqual(
      found.map(({ reason }) => reason),
      ['NoCloud'],
    );
  });

  it('says where a reason cannot be read from the source', () => {
    const { unreadable } = scanReasons(
      fileNamed('src/cloud/x/y.ts', `userError(pick(), 'x'); userError(why, 'x'); events.normal(node, why, 'x')`),
    );
    assert.deepEqual(unreadable, [
      'src/cloud/x/y.ts: events.normal(…, why, …)',
      'src/cloud/x/y.ts: userError(pick(), …)',
      'src/cloud/x/y.ts: userError(why, …)',
    ]);
  });

  it('says in both directions what differs', () => {
    const found = [{ reason: 'New', use: 'user', path: 'a.ts' } as const];
    const texts = parseReasonTexts('Old: It was.');
    assert.deepEqual(reasonProblems(found, texts), [
      'New (a.ts) is not in docs/reference/reasons.yaml',
      'docs/reference/reasons.yaml has Old, which no source gives',
    ]);
    assert.match(reasonsPage(found, texts), /`New` .*not documented/);
  });
});

describe('the pages of kinds', () => {
  const texts = KIND_PAGES.map(({ path }) => ({ path, text: readFileSync(path, 'utf8') }));

  for (const { path, text } of texts) {
    it(`style/S65: have the headings that all have: ${path}`, () => {
      const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
      assert.deepEqual(headings, KIND_HEADINGS);
    });
  }

  it('style/S66: have, as all pages do, examples that the definition takes, with no field that it does not know', () => {
    const definitions = new Map<string, DefinedKind>(
      KIND_PAGES.map(({ definition }) => [definition.kind, definition]),
    );
    const examples = allPages(process.cwd()).flatMap(({ path, text }) =>
      fencedBlocks(text)
        .filter(({ language }) => language === 'yaml')
        .flatMap(({ text: body }) => body.split(/^---$/m).map(parseYaml))
        .filter(isRecord)
        .flatMap((object) => {
          const definition = definitions.get(String(object['kind']));
          return definition === undefined ? [] : [{ path, object, definition }];
        }),
    );
    assert.ok(examples.length >= 5, `only ${examples.length} examples seen`);
    for (const { path, object, definition } of examples)
      assert.partialDeepStrictEqual(definition.parse(object), object, path);
  });

  it('name every reason that the Agent providers say in a condition', () => {
    const said = runtimeReasons(process.cwd()).found.filter(
      ({ path, use }) => use === 'condition' && path.startsWith('src/agent/'),
    );
    const names = [...new Set(said.map(({ reason }) => reason))];
    assert.ok(names.length > 40, `only ${names.length} reasons seen`);
    assert.deepEqual(
      names.filter((name) => !texts.some(({ text }) => text.includes(`\`${name}`))),
      [],
    );
  });

  it('have a place for the table of fields, and all fields in it but those of another page', () => {
    const definition = { docs: () => '## X\n\n| Field |\n|---|\n| `spec.a` | of $1 |\n| `spec.b.c` |\n' };
    const page = { definition, elsewhere: ['spec.b.'] };
    const wanted = '# X\n<!-- fields -->\n\n| Field |\n|---|\n| `spec.a` | of $1 |\n\n<!-- end of fields -->\n';
    assert.equal(withFields('# X\n<!-- fields -->\nold\n<!-- end of fields -->\n', page), wanted);
    assert.equal(withFields(wanted, page), wanted);
    assert.throws(() => withFields('# X\n', page), /<!-- fields -->/);
  });
});

describe('docs/reference/ports.md', () => {
  const opening = sources.filter(({ text }) => listens(text)).map(({ path }) => path);

  it('reliability/P61: has every source that opens a port, and no other', () => {
    const listed = [...PORTS.map(({ openedBy }) => openedBy), ...Object.keys(NO_PORT_OF_THEIR_OWN)];
    assert.deepEqual([...new Set(opening)].sort(), [...new Set(listed)].sort());
  });

  it('finds whoever listens', () => {
    for (const text of ['createServer(f)', 'createSecureServer({})', 'await Listener.start({', 'server.listen(0)'])
      assert.equal(listens(text), true, text);
    assert.equal(listens('keys?.listen((input) => {'), false);
  });
});

/** Name and type of each metric in the text that Prometheus reads, with the labels of its samples. */
function served(
  text: string,
): ReadonlyMap<string, { readonly type: string; readonly labels: ReadonlySet<string> }> {
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Map(
    types.map(([, name = '', type = '']) => {
      const samples = [...text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'))];
      const labels = samples.flatMap(([, list = '']) =>
        [...list.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
      );
      return [name, { type, labels: new Set(labels.filter((label) => label !== 'le')) }];
    }),
  );
}

/** What a program with all parts serves that has led, read and written. */
async function scrape(): Promise<string> {
  await using server = await startEmbedded();
  const clock = new SystemClock();
  const log = createLog({ level: 'error', write: () => {}, now: () => clock.now() });
  const kubeconfigFlag = await server.user('admin', ['system:masters']);
  const kube = await loadKubeconfig({ kubeconfigFlag, env: {}, homeDir: '/nonexistent', clock, stderr: () => {} });
  const stop = new AbortController();
  await using manager = createManager({
    name: 'scraped',
    kube,
    clock,
    log,
    leaderElection: { id: 'scraped', namespace: 'default' },
    metrics: { bind: '127.0.0.1:0' },
  });
  manager.add(controllerFor(ConfigMap).reconcile({ reconcile: async () => DONE }));
  new Webhooks({ metrics: manager.metrics, clock, log });
  const running = manager.start(stop.signal);
  await manager.whenLeading();
  await manager.client.create(ConfigMap, { metadata: { namespace: 'default', name: 'seen' } });
  const answer = await fetch(`http://127.0.0.1:${await manager.ports.metrics}/metrics`);
  const text = await answer.text();
  stop.abort();
  await running;
  return text;
}

/** What a cloud controller manager serves that runs all four controllers and has asked its cloud something. */
async function scrapeCloudProgram(): Promise<string> {
  await using env = await TestEnv.start();
  const port = await freePort();
  const argv = [
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--authorization-always-allow-paths=/metrics',
    '--leader-elect=false',
    '--configure-cloud-routes=true',
    '--cluster-cidr=10.244.0.0/16',
  ];
  await using _program = await startProgram(env, { definition: acmeDefinition(), argv });
  await env.client.create(Node, { metadata: { name: 'w-1' }, spec: {} });
  await env.settle();
  const call = { host: '127.0.0.1', port, path: '/metrics', rejectUnauthorized: false, agent: false };
  const [answer] = await once(get(call), 'response');
  return textOf(answer);
}

describe('docs/reference/metrics.md', () => {
  const rows = runtimeMetrics();
  const cloudRows = cloudMetrics();
  const rowNamed = (name: string): MetricRow => rows.find((row) => row.name === name) ?? assert.fail(name);

  it('style/S44: has every metric that a program serves, and no other', async () => {
    const metrics = served(await scrape());
    assert.deepEqual(
      [...metrics].map(([name, { type }]) => `${name} ${type}`).sort(),
      rows.map(({ name, type }) => `${name} ${type}`),
    );
    for (const [name, { labels }] of metrics)
      if (labels.size > 0) assert.deepEqual([...labels].sort(), rowNamed(name).labels.toSorted(), name);
    assert.ok([...metrics.values()].filter(({ labels }) => labels.size > 0).length > 15, 'hardly any series seen');
  });

  it('style/S44, ccm/P12: has every metric that the cloud controller manager serves', async () => {
    const metrics = served(await scrapeCloudProgram());
    const known = new Map([...rows, ...cloudRows].map((row) => [row.name, row]));
    for (const [name, { type, labels }] of metrics) {
      const row = known.get(name) ?? assert.fail(`${name} is not documented`);
      assert.equal(type, row.type, name);
      if (labels.size > 0) assert.deepEqual([...labels].sort(), row.labels.toSorted(), name);
    }
    assert.deepEqual(
      cloudRows.map(({ name }) => name).filter((name) => !metrics.has(name)),
      [],
    );
    assert.ok(cloudRows.length >= 12, `only ${cloudRows.length} metrics of its own`);
  });

  it('knows every source that makes metrics', () => {
    const making = sources
      .filter(
        ({ path }) =>
          /^src\/(?:kube|cloud|cloud-operator|agent|sdk|providers)\//.test(path) &&
          path !== 'src/kube/metrics/metrics.ts',
      )
      .filter(({ text }) => /\bmetrics\s*\.(?:counter|gauge|histogram)\(/.test(text));
    assert.deepEqual(making.map(({ path }) => path).sort(), METRIC_SOURCES);
  });

  it('style/S44: has names with units, totals for counters, and labels that hold no names of objects', () => {
    for (const { name, type, labels } of [...rows, ...cloudRows, ...agentMetrics()]) {
      assert.match(name, PREFIXES);
      assert.equal(name.endsWith('_total'), type === 'counter', name);
      if (type === 'histogram') assert.match(name, /_(?:seconds|bytes)$/);
      assert.deepEqual(
        labels.filter((label) => /^(?:uid|namespace|object|pod)$/.test(label)),
        [],
      );
    }
  });
});
