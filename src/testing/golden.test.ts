import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { Box } from '../../test/torture/crash-points/box-kind.ts';
import { boxController, childOf, saysDone } from '../../test/torture/crash-points/controllers.ts';
import { ConfigMap } from '../api/generated/core-v1.ts';
import { DONE } from '../kube/controller/reconcile.ts';
import { applyYaml, dumpYaml, expectGolden } from './golden.ts';
import { TestEnv } from './test-env.ts';

const FIXTURE = `# two boxes
apiVersion: crash.example.com/v1
kind: Box
metadata: { name: b, namespace: default }
spec: { size: 2 }
---
apiVersion: crash.example.com/v1
kind: Box
metadata: { name: a, namespace: default }
spec: { size: 1 }
`;

async function dumpAfter(seed: number): Promise<string> {
  await using env = await TestEnv.start({ kinds: [Box], seed });
  await env.startManager({
    add: [
      boxController({
        reconcile: async (box, { client }) => {
          await client.apply(ConfigMap, childOf(box), { force: true });
          await saysDone(client, box);
          return DONE;
        },
      }),
    ],
  });
  await applyYaml(env, FIXTURE);
  await env.settle();
  return dumpYaml(env, [ConfigMap, Box]);
}

describe('golden fixtures', () => {
  it('runtime/T5: objects that are applied from YAML and reconciled are dumped sorted and masked', async () => {
    const text = await dumpAfter(1);
    assert.equal(text, await dumpAfter(2), 'nothing differs from run to run');
    const names = [...text.matchAll(/^kind: (\w+)\nmetadata:(?:\n {2}.*)*?\n {2}name: (\w+)/gm)].map(
      ([, kind, name]) => `${kind} ${name}`,
    );
    assert.deepEqual(names, ['Box a', 'Box b', 'ConfigMap a', 'ConfigMap b']);
    assert.match(text, /creationTimestamp: <time>/);
    assert.match(text, /uid: <uid>/);
    assert.doesNotMatch(text, /managedFields|resourceVersion|2026/);
  });

  it('runtime/T5: a dump is compared with its file, which an update writes', async () => {
    await using directory = await scratchDirectory();
    const path = join(directory.path, 'folder', 'boxes.yaml');
    await assert.rejects(
      expectGolden(path, 'a\nb\n'),
      /boxes\.yaml is not there; expectGolden with { isUpdate: true } writes it/,
    );
    await expectGolden(path, 'a\nb\n', { isUpdate: true });
    assert.equal(await readFile(path, 'utf8'), 'a\nb\n');
    await expectGolden(path, 'a\nb\n');
    await assert.rejects(expectGolden(path, 'a\nc\n'), /boxes\.yaml:2 says "b", but there is "c"/);
    await writeFile(path, 'a\nb\n\nc\n');
    await assert.rejects(expectGolden(path, 'a\nb\n'), /boxes\.yaml:4 says "c", but there is the end/);
  });

  it('names the document that is no YAML, and the object that the server refuses', async () => {
    await using env = await TestEnv.start({ kinds: [Box] });
    await assert.rejects(applyYaml(env, 'a: 1\n---\n{'), /document 2/);
    await assert.rejects(applyYaml(env, FIXTURE.replace('size: 2', 'size: 0')), /spec\.size/);
    await applyYaml(env, '');
  });
});
