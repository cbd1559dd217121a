import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { MANIFEST_RULES } from '../../cloud-operator/index.ts';
import { FAILURES } from '../failures.ts';
import type { VerbContext } from '../verb.ts';
import { explainVerb } from './explain.ts';

async function explain(...words: readonly string[]) {
  const said = { text: '', json: undefined as unknown };
  const context: VerbContext = {
    output: {
      result: (text, json) => void Object.assign(said, { text, json }),
      hint: (text) => assert.fail(text),
      show: () => ({ [Symbol.dispose]: () => undefined }),
    },
    clock: new VirtualClock(),
    signal: new AbortController().signal,
    folder: '/nonexistent',
    env: {},
  };
  const exit = await explainVerb.run(context, { flags: new Map(), env: {} }, words);
  return { exit, ...said };
}

describe('slipway explain', () => {
  it('experience/X10: lists all codes without one', async () => {
    const { exit, text, json } = await explain();
    assert.equal(exit, 0);
    assert.deepEqual(
      text.split('\n').map((line) => line.split('  ')[0]),
      [...Object.keys(FAILURES), ...MANIFEST_RULES.map(({ id }) => id)],
    );
    assert.partialDeepStrictEqual(json, { codes: [{ code: 'SW1001', title: FAILURES.SW1001.title }] });
  });

  it('operator/CCM-W07: explains every rule for manifests, in whatever case it is written', async () => {
    for (const { id, title, why, fix } of MANIFEST_RULES) {
      const { exit, text, json } = await explain(id.toLowerCase());
      assert.equal(exit, 0);
      for (const part of [`${id}  ${title}`, why, fix]) assert.ok(text.includes(part), text);
      assert.partialDeepStrictEqual(json, { code: id, title, why, fix });
    }
    assert.equal(
      (await explain('ccm-w07')).text,
      [
        'CCM-W07  toleration of nodes that are not initialised',
        '',
        'severity error (warning for static Pods)',
        'of       Deployment, DaemonSet, static Pod',
        'why      nobody else takes that taint away: it would wait for itself',
        'fix      tolerate node.cloudprovider.kubernetes.io/uninitialized:NoSchedule with operator Exists',
      ].join('\n'),
    );
  });

  const unknown: readonly { name: string; code: string; want: string }[] = [
    {
      name: 'the next ones by number',
      code: 'sw2199',
      want: 'unknown code "SW2199". Nearest: SW2160 (A fact that nothing uses), SW2159 (Ingress without load balancers), SW2158 (A storage class without volumes). All codes: npx slipway explain',
    },
    {
      name: 'the first of a kind for half a code',
      code: 'SW215',
      want: 'unknown code "SW215". Nearest: SW2151 (One call per node), SW2152 (Instances without zones), SW2153 (Machines cannot find out who they are). All codes: npx slipway explain',
    },
    {
      name: 'none of another kind',
      code: 'SW99',
      want: 'unknown code "SW99". Nearest: SW9001 (Internal error). All codes: npx slipway explain',
    },
    {
      name: 'none for a kind that is not there',
      code: 'SW7000',
      want: 'unknown code "SW7000". All codes: npx slipway explain',
    },
    {
      name: 'rules of the same letter',
      code: 'ccm-b99',
      want: 'unknown code "CCM-B99". Nearest: CCM-B11 (a liveness probe at the secure port), CCM-B10 (one identity), CCM-B09 (nothing that the API server would have to give). All codes: npx slipway explain',
    },
    {
      name: 'no rule of another letter',
      code: 'CCM-X01',
      want: 'unknown code "CCM-X01". All codes: npx slipway explain',
    },
    {
      name: 'the rule whose prefix is missing',
      code: 'w07',
      want: 'unknown code "W07". Nearest: CCM-W07 (toleration of nodes that are not initialised), CCM-W06 (replicas on different nodes), CCM-W08 (toleration of nodes without a network). All codes: npx slipway explain',
    },
    {
      name: 'the first rules of several letters for the prefix',
      code: 'CCM',
      want: 'unknown code "CCM". Nearest: CCM-W01 (a container with the name by which images are replaced), CCM-B01 (nothing but static pods), CCM-I01 (images that images.json has). All codes: npx slipway explain',
    },
    { name: 'none for a word', code: 'port', want: 'unknown code "PORT". All codes: npx slipway explain' },
  ];
  for (const { name, code, want } of unknown) {
    it(`experience/X11: offers ${name}, and says how to list all`, () =>
      assert.rejects(explain(code), { exitCode: 2, message: want }));
  }
});
