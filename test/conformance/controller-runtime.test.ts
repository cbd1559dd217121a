import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../oracles/run/port.ts';
import { needsAll, needsOracle, oracleFile } from '../support/needs-oracle.ts';
import { outcomeOf } from '../support/scratch.ts';
import { masked } from './differential/mask.ts';
import { type Peer, type ServerPair, startPair } from './differential/server-pair.ts';

/** One run of the Go program: a subcommand with what it is told. */
interface Run {
  readonly name: string;
  readonly subcommand: string;
  readonly arguments?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  /** Steps that only our server can be brought to. */
  readonly onlyOurs?: readonly string[];
}

interface Step {
  readonly name: string;
  readonly error?: { readonly code: number; readonly reason?: string };
  readonly [member: string]: unknown;
}

/** What the program prints. */
interface Result {
  readonly steps: readonly Step[];
  readonly sent: readonly string[];
  readonly warnings?: readonly string[];
  readonly seconds?: Readonly<Record<string, number>>;
}

const COUNT = '300';
const ACROSS_GONE = ['a watch from a forgotten revision', 'the cache goes on after 410'];
const RUNS: readonly Run[] = [
  {
    name: 'a cache of ConfigMaps and custom objects that only watches',
    subcommand: 'cache',
    arguments: ['--count', COUNT],
    variables: { KUBE_FEATURE_WatchListClient: 'true' },
  },
  {
    name: 'a cache of ConfigMaps and custom objects that lists and watches',
    subcommand: 'cache',
    arguments: ['--count', COUNT],
    variables: { KUBE_FEATURE_WatchListClient: 'false' },
  },
  { name: 'server-side apply by two owners', subcommand: 'apply' },
  // Upstream's history cannot be compacted from here, so what follows 410 is seen on ours alone.
  { name: 'watches with bookmarks and across 410', subcommand: 'watch', onlyOurs: ACROSS_GONE },
  { name: 'a conversion webhook by URL', subcommand: 'conversion' },
  { name: 'admission webhooks by URL', subcommand: 'admission' },
  { name: 'a Lease that is handed over', subcommand: 'lease' },
  { name: 'patch types, status, scale and optimistic locks', subcommand: 'patch' },
  { name: 'discovery, mapping of kinds and OpenAPI v3', subcommand: 'discovery' },
  { name: 'apiserver/D8: OpenAPI v2 in both of its forms', subcommand: 'openapi' },
  { name: 'objects by their metadata alone', subcommand: 'metadata' },
];

const needs = needsAll(
  needsOracle('etcd'),
  needsOracle('kube-apiserver'),
  needsOracle('kube-controller-manager'),
  needsOracle('controller-runtime'),
);

describe('a Go controller-runtime program with our API server and with kube-apiserver', needs, () => {
  const id = randomBytes(3).toString('hex');
  let pair: ServerPair;
  /** Measurements, for people. */
  const seconds: Record<string, unknown> = {};
  before(async () => {
    pair = await startPair();
  });
  after(async () => {
    await pair[Symbol.asyncDispose]();
    await writeFile(join(tmpdir(), 'slipway-controller-runtime-report.json'), JSON.stringify(seconds, null, 1));
  });

  for (const [at, run] of RUNS.entries()) {
    it(run.name, async () => {
      const namespace = `cr${at}-${id}`;
      const [upstream, ours] = await Promise.all([
        played(pair.upstream, run, namespace),
        played(pair.ours, run, namespace),
      ]);
      seconds[run.name] = { upstream: upstream.seconds, ours: ours.seconds };
      const { onlyOurs = [] } = run;
      assert.deepEqual(
        ours.steps.filter(({ name }) => onlyOurs.includes(name)).map(({ name }) => name),
        onlyOurs,
      );
      if (onlyOurs.length === 0) assert.deepEqual(ours.sent, upstream.sent);
      const shared = ours.steps.filter(({ name }) => !onlyOurs.includes(name));
      assert.deepEqual(
        shared.map(({ name }) => name),
        upstream.steps.map(({ name }) => name),
      );
      const unlike = upstream.steps.flatMap((wanted, step) => difference(shared[step], wanted));
      assert.ok(unlike.length === 0, unlike.join('\n\n'));
      assert.deepEqual(ours.warnings, upstream.warnings);
    });
  }

  it('sends protobuf for built-in kinds', async () => {
    const { sent } = await played(pair.ours, { name: '', subcommand: 'patch' }, `pb-${id}`);
    assert.ok(sent.includes('POST built-in application/vnd.kubernetes.protobuf'), sent.join('\n'));
    assert.ok(sent.includes('POST custom application/json'), sent.join('\n'));
  });
});

/** The S8 deviation: an applied object that does not fit its schema is the client's mistake, not the server's. */
const DEVIATIONS: ReadonlySet<string> = new Set(['Gadget: an unknown field', 'Gadget: a wrong type']);

function difference(ours: unknown, upstream: Step): readonly string[] {
  const isDeviation = DEVIATIONS.has(upstream.name) && upstream.error?.code === 500;
  const { code: _code, reason: _reason, ...rest } = upstream.error ?? {};
  const wanted = isDeviation ? { ...upstream, error: { ...rest, code: 400, reason: 'BadRequest' } } : upstream;
  try {
    assert.deepEqual(ours, wanted);
    return [];
  } catch (error) {
    return [`${upstream.name}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

const GROUP = /^cr\d+-.*\.example\.com$/;

/** A step without the kinds of runs before it: a server shows them for a moment after their definitions are gone. */
function ownKinds(step: Step, namespace: string): Step {
  const { value } = step;
  if (!Array.isArray(value)) return step;
  const isForeign = (kind: unknown) => {
    const { Group: group = '' } = (kind ?? {}) as { readonly Group?: string };
    return GROUP.test(group) && group !== `${namespace}.example.com`;
  };
  return { ...step, value: value.filter((kind: unknown) => !isForeign(kind)) };
}

/** The result of one run against one server, without what no two servers share. */
async function played(peer: Peer, run: Run, namespace: string): Promise<Result> {
  const port = await freePort();
  const kubeconfig = peer.kubeconfig('admin');
  const flags = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--webhook-port', String(port)];
  const words = [run.subcommand, ...flags, ...(run.arguments ?? [])];
  const variables = { HOME: dirname(kubeconfig), ...run.variables };
  const { code, stdout, stderr } = await outcomeOf(oracleFile('controller-runtime'), words, variables);
  assert.equal(code, 0, `${peer.name}: ${stderr}`);
  const result: Result = JSON.parse(stdout.replaceAll(/(in the precondition) \(\d+\)/g, '$1 (<revision>)'));
  const answers = result.steps.map((body) => ({ label: body.name, step: {}, status: 200, headers: {}, body }));
  const place = { url: peer.url, webhookUrl: `https://127.0.0.1:${port}`, nowMs: Date.now() };
  const steps = masked(answers, place).map(({ body }) => ownKinds(body as Step, namespace));
  return { ...result, steps, warnings: (result.warnings ?? []).toSorted() };
}
