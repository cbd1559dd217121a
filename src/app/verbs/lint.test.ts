import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { acmeText } from '../../../test/support/acme-manifests.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { VirtualClock } from '../../base/clock.ts';
import { readConfigFile } from '../config-file.ts';
import type { VerbContext } from '../verb.ts';
import { lintVerb } from './lint.ts';

/** One warning (no example) or, with `broken`, an error too. */
const definition = (more = ''): string => `import { defineProvider } from 'slipway/sdk';
export default defineProvider({
  name: 'acme',
  displayName: 'Acme Cloud',
  architectures: ['amd64'],
  providerID: { scheme: 'acme', format: '{id}', pattern: /^acme:\\/\\/.+$/ },
  connect: () => ({ client: 1, clusterId: 'c1' }),
  capabilities: {
    metadata: { declare: () => ({ addresses: ['169.254.169.254'], paths: { instanceId: '/id' } }) },
  },
  ${more}
});
`;

async function lint(text: string, flags: Readonly<Record<string, string>> = {}, file = 'provider.ts') {
  await using folder = await scratchDirectory();
  await writeFile(join(folder.path, file), text);
  const said = { text: '', json: undefined as unknown };
  const context: VerbContext = {
    output: {
      result: (words, json) => void Object.assign(said, { text: words, json }),
      hint: (words) => assert.fail(words),
      show: () => ({ [Symbol.dispose]: () => undefined }),
    },
    clock: new VirtualClock(),
    signal: new AbortController().signal,
    folder: folder.path,
    env: {},
  };
  const exit = await lintVerb.run(context, { flags: new Map(Object.entries(flags)), env: {} }, [file]);
  return { exit, ...said };
}

describe('slipway lint', () => {
  it('experience/X41: ends with 0 on warnings, and with 1 when there are more than allowed', async () => {
    assert.equal((await lint(definition())).exit, 0);
    assert.equal((await lint(definition(), { 'max-warnings': '1' })).exit, 0);
    assert.equal((await lint(definition(), { 'max-warnings': '0' })).exit, 1);
  });

  it('experience/X41: ends with 1 on errors, with the same findings as text, JSON and SARIF', async () => {
    const wrong = definition("platformname: 'x',");
    const { exit, text, json } = await lint(wrong);
    assert.equal(exit, 1);
    assert.match(text, /^provider\.ts:11:3 {2}error {2}SW2110 {2}platformname is unknown\n/);
    assert.partialDeepStrictEqual(json, {
      errors: 1,
      warnings: 0,
      files: 1,
      findings: [{ file: 'provider.ts', line: 11, column: 3, code: 'SW2110', severity: 'error' }],
    });
    const sarif = await lint(wrong, { output: 'sarif' });
    assert.partialDeepStrictEqual(sarif.json, { version: '2.1.0', runs: [{ results: [{ ruleId: 'SW2110' }] }] });
  });

  it('operator/case 21: checks manifests as well, with and without a cloud configuration', async () => {
    const pod = acmeText('pod', ['bootstrap-configs/cloud.conf', 'other.conf']);
    assert.equal((await lint(pod, {}, 'pod.yaml')).exit, 0);
    const { exit, text, json } = await lint(pod, { 'cloud-config': 'true' }, 'pod.yaml');
    assert.equal(exit, 1);
    assert.match(text, /^pod\.yaml:11:3 {2}error {2}CCM-B04 {2}Pod\/acme-cloud-controller-manager: must use/);
    assert.match(text, /explain: npx slipway explain CCM-B04$/);
    assert.partialDeepStrictEqual(json, {
      errors: 1,
      warnings: 0,
      files: 1,
      findings: [{ file: 'pod.yaml', line: 11, column: 3, code: 'CCM-B04', severity: 'error' }],
    });
    const sarif = await lint(pod, { 'cloud-config': 'true', output: 'sarif' }, 'pod.yaml');
    assert.partialDeepStrictEqual(sarif.json, {
      runs: [
        {
          tool: {
            driver: {
              rules: [
                { id: 'CCM-B04', shortDescription: { text: 'the cloud configuration of the bootstrap machine' } },
              ],
            },
          },
          results: [{ ruleId: 'CCM-B04', level: 'error' }],
        },
      ],
    });
  });

  it('operator/CCM-W24: expects the namespace that is given, also in the flags of leader election', async () => {
    const own = 'openshift-acme-cloud-controller-manager';
    const elsewhere = acmeText('deployment').replaceAll('openshift-cloud-controller-manager', own);
    const codes = ({ json }: { readonly json: unknown }) =>
      (json as { findings: readonly { code: string }[] }).findings.map(({ code }) => code);
    const given = { 'cloud-config': 'true' };
    assert.deepEqual(codes(await lint(elsewhere, given, 'a.yaml')).toSorted(), ['CCM-W24', 'CCM-W31', 'CCM-W34']);
    assert.deepEqual(codes(await lint(elsewhere, { ...given, namespace: own }, 'a.yaml')), ['CCM-W34']);
  });

  it('experience/X5: speaks without symbols where that is asked for', async () => {
    const { text } = await lint(definition("platformname: 'x',"), { plain: 'true' });
    assert.match(text, /^provider\.ts:11:3: error SW2110: platformname is unknown\n/);
    assert.match(text, /^[\x20-\x7e\n]+$/);
    assert.doesNotMatch(text, /\^/);
  });

  it('style/S26: takes its own forms of output from its section of a config file, the others from the top', async () => {
    await using folder = await scratchDirectory();
    const file = join(folder.path, 'slipway.yaml');
    await writeFile(file, 'output: json\nlint: {output: sarif}\n');
    const tables = { lint: lintVerb.settings, other: {} };
    assert.deepEqual(readConfigFile(file, 'lint', tables).content, { output: 'sarif' });
    assert.deepEqual(readConfigFile(file, 'other', tables).content, { output: 'json' });
  });
});
