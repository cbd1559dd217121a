import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import type { Json } from '../../src/object/json.ts';
import { ApiClient, accessFrom } from '../support/api-client.ts';
import {
  ourVerdict,
  PROBE_FILES,
  type Probe,
  readProbes,
  shortened,
  type Verdict,
} from '../support/cel-probes.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';

const GROUP = 'cel.example.com';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const POLL_MS = 100;
const SERVED_TIMEOUT_MS = 30_000;

interface Cause {
  readonly field: string;
  readonly message: string;
}

interface Answer {
  readonly status: number;
  readonly causes: readonly Cause[];
  readonly resourceVersion: string | undefined;
}

/** A definition with one property per probe, so that one request answers for all of them. */
const definition = (plural: string, probes: readonly Probe[]): Json =>
  JSON.parse(
    JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${GROUP}` },
      spec: {
        group: GROUP,
        scope: 'Cluster',
        names: { plural, singular: plural, kind: plural, listKind: `${plural}list` },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: rootSchema(probes) } }],
      },
    }),
  );

const rootSchema = (probes: readonly Probe[]) => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: Object.fromEntries(probes.map(({ schema }, index) => [`p${index}`, schema])),
    },
  },
});

/** What kube-apiserver says to a table of probes. */
class Questions {
  readonly #client: ApiClient;
  readonly #plural: string;
  readonly verdicts = new Map<Probe, string[]>();
  readonly refusals = new Map<Probe, string[]>();

  constructor(client: ApiClient, plural: string) {
    this.#client = client;
    this.#plural = plural;
  }

  async ask(probes: readonly Probe[]): Promise<void> {
    const accepted = await this.#define(probes);
    await this.#served();
    const numbered = accepted.map((probe, index) => [`p${index}`, probe] as const);
    const created = numbered.filter(([, { old }]) => old === undefined);
    const updated = numbered.filter(([, { old }]) => old !== undefined);
    this.#record(
      accepted,
      await this.#send(
        'POST',
        '',
        this.#object('created', created, ({ self }) => self),
      ),
    );
    const before = await this.#send(
      'POST',
      '',
      this.#object('updated', updated, ({ old }) => old ?? null),
    );
    assert.equal(before.status, 201, JSON.stringify(before.causes));
    const next = this.#object('updated', updated, ({ self }) => self, before.resourceVersion);
    this.#record(accepted, await this.#send('PUT', '/updated', next));
  }

  /** Leaves out what is refused until the rest is accepted: those below a refused one are not looked at. */
  async #define(probes: readonly Probe[]): Promise<readonly Probe[]> {
    const { status, causes } = await this.#request('POST', DEFINITIONS, definition(this.#plural, probes));
    if (status === 201) return probes;
    for (const { field, message } of causes) {
      const [, index, rest = ''] = /properties\[p(\d+)\](.*)$/.exec(field) ?? [];
      const probe = index === undefined ? undefined : probes[Number(index)];
      if (probe !== undefined) push(this.refusals, probe, `${rest}: ${message}`);
    }
    const left = probes.filter((probe) => !this.refusals.has(probe));
    assert.ok(left.length < probes.length, `the definition is refused: ${status} ${JSON.stringify(causes)}`);
    return this.#define(left);
  }

  async #served(): Promise<void> {
    const deadline = performance.now() + SERVED_TIMEOUT_MS;
    while ((await this.#send('GET', '')).status !== 200) {
      assert.ok(performance.now() < deadline, `${this.#plural} is not served`);
      await sleep(POLL_MS);
    }
  }

  #object(
    name: string,
    probes: readonly (readonly [string, Probe])[],
    value: (probe: Probe) => Json,
    resourceVersion?: string,
  ): Json {
    const spec = Object.fromEntries(probes.map(([key, probe]) => [key, value(probe)]));
    const metadata = resourceVersion === undefined ? { name } : { name, resourceVersion };
    return { apiVersion: `${GROUP}/v1`, kind: this.#plural, metadata, spec };
  }

  #record(probes: readonly Probe[], { status, causes }: Answer): void {
    assert.ok(status < 300 || causes.length > 0, `${status} without causes`);
    for (const { field, message } of causes) {
      const [, index, rest = ''] = /^spec\.p(\d+)(.*)$/s.exec(field) ?? [];
      const probe = index === undefined ? undefined : probes[Number(index)];
      assert.ok(probe, `${field}: ${message}`);
      push(this.verdicts, probe, `$${rest}: ${message}`);
    }
  }

  #send(method: string, path: string, body?: Json): Promise<Answer> {
    return this.#request(method, `/apis/${GROUP}/v1/${this.#plural}${path}`, body);
  }

  async #request(method: string, path: string, body?: Json): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { 'content-type': 'application/json' };
    const answer = await this.#client.send({ method, path, headers, body: text });
    if (answer.headers.every(([name, value]) => name !== 'content-type' || !value.includes('json'))) {
      return { status: answer.status, causes: [], resourceVersion: undefined };
    }
    const { details, metadata } = JSON.parse(answer.body.toString());
    return { status: answer.status, causes: details?.causes ?? [], resourceVersion: metadata?.resourceVersion };
  }
}

function push(map: Map<Probe, string[]>, probe: Probe, text: string): void {
  const texts = map.get(probe) ?? [];
  texts.push(shortened(text));
  map.set(probe, texts);
}

const isAboutCost = (text: string): boolean => /estimated .*cost/.test(text);

/** What kube-apiserver says; refusals for cost aside. */
function theirVerdict(probe: Probe, { verdicts, refusals }: Questions): Verdict {
  const refused = (refusals.get(probe) ?? []).filter((text) => !isAboutCost(text)).sort();
  assert.ok(refused.length > 0 || !refusals.has(probe), `${probe.name} is refused for its cost alone`);
  return { refused, errors: refused.length > 0 ? [] : (verdicts.get(probe) ?? []).toSorted() };
}

/** What we say and what it says, when that is not the same. */
function difference(probe: Probe, questions: Questions): string | undefined {
  const ours = ourVerdict(probe);
  const theirs = theirVerdict(probe, questions);
  const isBothRefused = ours.refused.length > 0 && theirs.refused.length > 0;
  if (isDeepStrictEqual(ours, theirs) || (probe.isSyntaxError && isBothRefused)) return undefined;
  return `${probe.name}\n  kube-apiserver: ${JSON.stringify(theirs)}\n  we: ${JSON.stringify(ours)}`;
}

const needs = needsAll(needsOracle('etcd', { min: '3.5.13' }), needsOracle('kube-apiserver', { min: '1.36' }));

describe('CEL beside a real kube-apiserver', needs, () => {
  let cluster: ControlPlane;
  let client: ApiClient;
  before(async () => {
    cluster = await startKubernetes();
    client = new ApiClient(accessFrom(cluster.admin));
  });
  after(async () => {
    client[Symbol.dispose]();
    await cluster.stop();
  });

  for (const file of PROBE_FILES) {
    it(`apiserver/X28: answers the same to ${file}.yaml`, async (t) => {
      const probes = readProbes(file).filter(({ isCostly }) => !isCostly);
      const questions = new Questions(client, `${file}probes`);
      await questions.ask(probes);
      const differences = probes.map((probe) => difference(probe, questions)).filter((text) => text !== undefined);
      t.diagnostic(`${probes.length - differences.length} of ${probes.length} probes of ${file} agree`);
      assert.deepEqual(differences, []);
    });
  }
});
