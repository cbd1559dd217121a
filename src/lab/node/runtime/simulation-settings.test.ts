import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import { ContainerProblem } from './container-runtime.ts';
import { type Simulation, simulationOf } from './simulation-settings.ts';

interface Setup {
  readonly text?: string;
  readonly container?: Container;
  readonly owner?: string;
}

function simulation({ text, container = { name: 'c' }, owner }: Setup): Simulation {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      ...(text !== undefined && { annotations: { 'simulate.slipway.dev/c': text } }),
      ...(owner !== undefined && {
        ownerReferences: [{ apiVersion: 'x', kind: owner, name: 'o', uid: 'u', controller: true }],
      }),
    },
    spec: { initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }], containers: [{ name: 'c' }] },
  };
  return simulationOf(pod, container);
}

describe('simulationOf', () => {
  const rows: readonly (Setup & { readonly name: string; readonly want: Simulation })[] = [
    { name: 'ready at once, and for ever', want: { readyAfterMs: 0 } },
    { name: 'of a ReplicaSet as well', owner: 'ReplicaSet', want: { readyAfterMs: 0 } },
    { name: 'of a Job for a second', owner: 'Job', want: { readyAfterMs: 0, exit: { code: 0, afterMs: 1000 } } },
    {
      name: 'an init container is done at once',
      container: { name: 'i' },
      want: { readyAfterMs: 0, exit: { code: 0, afterMs: 0 } },
    },
    {
      name: 'also that of a Job',
      owner: 'Job',
      container: { name: 'i' },
      want: { readyAfterMs: 0, exit: { code: 0, afterMs: 0 } },
    },
    {
      name: 'a sidecar stays',
      owner: 'Job',
      container: { name: 's', restartPolicy: 'Always' },
      want: { readyAfterMs: 0 },
    },
    { name: 'ready later', text: '{"readyAfter":"1m30s"}', want: { readyAfterMs: 90_000 } },
    {
      name: 'an end with a code',
      text: '{"readyAfter":"2s","exit":{"code":1,"after":"5s"}}',
      want: { readyAfterMs: 2000, exit: { code: 1, afterMs: 5000 } },
    },
    {
      name: 'an end at once',
      text: '{"exit":{"code":255}}',
      want: { readyAfterMs: 0, exit: { code: 255, afterMs: 0 } },
    },
    { name: 'nothing said is nothing changed', text: '{}', want: { readyAfterMs: 0 } },
  ];
  for (const { name, want, ...setup } of rows)
    it(`lab/N12: ${name}`, () => assert.deepEqual(simulation(setup), want));

  const bad = {
    'not JSON': 'ready',
    'not an object': '[]',
    'an unknown key': '{"ready":"2s"}',
    'no unit': '{"readyAfter":"2"}',
    'a number': '{"readyAfter":2}',
    'the past': '{"readyAfter":"-2s"}',
    'no code': '{"exit":{}}',
    'a code that no process has': '{"exit":{"code":256}}',
    'half a code': '{"exit":{"code":1.5}}',
  };
  for (const [name, text] of Object.entries(bad)) {
    it(`lab/N12: ${name} is refused with the name of the annotation and an example`, () =>
      assert.throws(
        () => simulation({ text }),
        (error) => {
          assert.ok(error instanceof ContainerProblem);
          assert.equal(error.reason, 'CreateContainerConfigError');
          assert.match(
            error.message,
            /^annotation simulate\.slipway\.dev\/c says .*; write for example \{"readyAfter"/s,
          );
          assert.ok(error.message.includes(text));
          return true;
        },
      ));
  }
});
