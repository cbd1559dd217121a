import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { configProblem } from '../../src/agent/ignition/config-check.ts';
import { mergeConfigs } from '../../src/agent/ignition/config-merge.ts';
import { discoveryIgnition } from '../../src/agent/ignition/discovery-ignition.ts';
import { installIgnition } from '../../src/agent/ignition/install-ignition.ts';
import type { OpenshiftAssistedConfigSpec } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { SlipwayError } from '../../src/base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/object/json.ts';
import { BAD_CONFIGS, ignitionConfig } from '../support/ignition-configs.ts';
import { needsOracle, oracleFile } from '../support/needs-oracle.ts';

const PAIRS = 400;
const MOST_BYTES = 64 << 20;

interface Verdict {
  readonly problem?: string;
  readonly entries: readonly string[];
}

interface Merged {
  readonly problem?: string;
  readonly config?: Json;
}

function ask<Answer>(question: 'judge' | 'merge', input: unknown): readonly Answer[] {
  const { status, stdout, stderr } = spawnSync(oracleFile('ignition'), [question], {
    input: JSON.stringify(input),
    maxBuffer: MOST_BYTES,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  // The program is our own: it answers a list with an entry for each of the input.
  return JSON.parse(stdout) as readonly Answer[];
}

/** Go writes objects and lists with nothing in them; they mean the same as their absence. */
function pruned(value: Json): Json {
  if (Array.isArray(value)) return value.map(pruned);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).map(([key, field]) => [key, pruned(field)] as const);
  return Object.fromEntries(kept.filter(([, field]) => !isNothing(field)));
}

const isNothing = (value: Json): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('$METADATA_UUID', '"${METADATA_UUID}"', "it's", '$(reboot)', '`x`'),
);
const specs: fc.Arbitrary<OpenshiftAssistedConfigSpec> = fc.record(
  {
    nodeRegistration: fc.record(
      {
        name: fc.constantFrom('', '$METADATA_NAME', '${METADATA_NAME}', 'METADATA_NAME'),
        kubeletExtraLabels: fc.array(
          text.map((value) => `k=x${value}`),
          { maxLength: 3 },
        ),
        providerID: text.map((value) => `metal3://${value}`),
      },
      { requiredKeys: [] },
    ),
    preBootstrapCommands: fc.array(text, { maxLength: 3 }),
    postBootstrapCommands: fc.array(text, { maxLength: 3 }),
    bootstrapCommandSentinelDir: fc.constantFrom('', '/custom/path/', '/x'),
    postBootstrapKubeconfigPath: fc.constantFrom('', '/custom/kubeconfig'),
  },
  { requiredKeys: [] },
);

describe('ignition configs of the agent providers', needsOracle('ignition'), () => {
  it('agent/I1: every config that is generated is read without a remark', () => {
    const samples = fc.sample(specs, PAIRS);
    const discovery = '{"ignition":{"version":"3.1.0"},"systemd":{"units":[{"name":"agent.service"}]}}';
    const texts = samples.flatMap((spec) => [
      installIgnition(spec, undefined),
      discoveryIgnition(discovery, spec),
    ]);
    const verdicts = ask<Verdict>(
      'judge',
      texts.map((config) => JSON.parse(config)),
    );
    assert.equal(verdicts.length, 2 * PAIRS);
    for (const [index, verdict] of verdicts.entries()) assert.deepEqual(verdict, { entries: [] }, texts[index]);
  });

  it('agent/I9: configs are merged as Ignition merges them', () => {
    const pairs = fc.sample(fc.record({ parent: ignitionConfig, child: ignitionConfig }), PAIRS);
    const merged = ask<Merged>('merge', pairs);
    assert.equal(merged.length, PAIRS);
    for (const [index, { parent, child }] of pairs.entries()) {
      const { problem, config = null } = merged[index] ?? {};
      assert.equal(problem, undefined, JSON.stringify({ parent, child }));
      assert.deepEqual(pruned(mergeConfigs(parent, child)), pruned(config), JSON.stringify({ parent, child }));
    }
  });

  it('agent/I9: an override over a generated config gives what upstream gives, or is invalid there too', () => {
    const cases = fc.sample(fc.tuple(specs, ignitionConfig, fc.constantFrom('3.0.0', '3.1.0')), PAIRS);
    const pairs = cases.map(([spec, override, version]) => {
      const child = inVersion(override, version);
      return {
        parent: JSON.parse(installIgnition(spec, undefined)) as JsonObject,
        child,
        ours: resultOf(() => JSON.parse(installIgnition(spec, JSON.stringify(child))) as JsonObject),
      };
    });
    const merged = ask<Merged>('merge', pairs);
    const verdicts = ask<Verdict>(
      'judge',
      merged.map(({ config = null }) => config),
    );
    for (const [index, { ours, child }] of pairs.entries()) {
      const isInvalid = verdicts[index]?.problem !== undefined;
      assert.equal(ours === undefined, isInvalid, JSON.stringify(child));
      if (ours !== undefined)
        assert.deepEqual(pruned(ours), pruned(merged[index]?.config ?? null), JSON.stringify(child));
    }
    const valid = pairs.filter(({ ours }) => ours !== undefined);
    assert.ok(valid.length > PAIRS / 2 && valid.length < PAIRS, `${valid.length} of ${PAIRS} are valid`);
  });

  it('agent/I9: what we refuse is refused there, and what we accept is accepted there', () => {
    const bad = ask<Verdict>(
      'judge',
      BAD_CONFIGS.map(({ config }) => config),
    );
    for (const [index, { name }] of BAD_CONFIGS.entries()) assert.notEqual(bad[index]?.problem, undefined, name);
    const good = fc.sample(ignitionConfig, PAIRS);
    for (const [index, { problem, entries }] of ask<Verdict>('judge', good).entries()) {
      assert.equal(problem, undefined, `${JSON.stringify(good[index])} ${entries.join(' ')}`);
      assert.equal(configProblem(good[index] ?? null), undefined);
    }
  });
});

/** What a function gives; undefined when it refuses the override. */
function resultOf<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SlipwayError && error.reason === 'InvalidIgnitionOverride') return undefined;
    throw error;
  }
}

/** The older version has fewer fields, and its parser drops what it does not know. */
function inVersion(config: JsonObject, version: string): JsonObject {
  if (version === '3.1.0') return config;
  const { storage } = config;
  const { directories = [], links = [] } = isJsonObject(storage) ? storage : {};
  return { ...config, ignition: { version }, storage: { directories, links } };
}
