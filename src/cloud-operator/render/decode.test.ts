import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../api/object.ts';
import { objectOf, type ReadManifest, readManifest, readObject } from './decode.ts';
import { OPERANDS, STATIC_PODS } from './manifest-kinds.ts';

const read = (text: string): ReadManifest => readManifest(text, 'file.yaml', OPERANDS);

/** A pod whose spec is one line of YAML. */
const pod = (spec: string): ReadManifest =>
  readManifest(`apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: ${spec}`, 'file.yaml', STATIC_PODS);

const specOf = ({ object }: ReadManifest): unknown =>
  (object as (KubeObject & { spec?: unknown }) | undefined)?.spec;

const notesOf = ({ notes }: ReadManifest): readonly string[] =>
  notes.map(({ coercion, path }) => `${coercion} ${path}`);

const CONTAINER = 'spec.containers[0]';

describe('a manifest', () => {
  it('operator/R23: becomes the object that it describes', () => {
    const { object, problems, notes } = read(
      'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {b: c}\n',
    );
    assert.deepEqual(object, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { b: 'c' } });
    assert.deepEqual([problems, notes], [[], []]);
  });

  it('operator/R23: may have comments and a line of dashes before it', () => {
    const text = '# why\n---\n# more\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n';
    assert.equal(read(text).object?.metadata.name, 'a');
  });

  const coerced = [
    {
      given: '{volumes: [{name: a, emptydir: null}]}',
      spec: { volumes: [{ name: 'a' }] },
      notes: ['case spec.volumes[0].emptydir', 'null spec.volumes[0].emptyDir'],
    },
    {
      given: '{containers: [{name: a, env: [{name: x, value: false}]}]}',
      spec: { containers: [{ name: 'a', env: [{ name: 'x', value: 'false' }] }] },
      notes: [`text ${CONTAINER}.env[0].value`],
    },
    {
      given: '{containers: [{name: a, env: [{name: x, value: }]}]}',
      spec: { containers: [{ name: 'a', env: [{ name: 'x' }] }] },
      notes: [`null ${CONTAINER}.env[0].value`],
    },
    {
      given: '{containers: [{name: a, env: [{name: x, value: 0x10}]}]}',
      spec: { containers: [{ name: 'a', env: [{ name: 'x', value: '16' }] }] },
      notes: [`text ${CONTAINER}.env[0].value`],
    },
    {
      given: '{containers: [{name: a, args: [1, true, 1.50]}]}',
      spec: { containers: [{ name: 'a', args: ['1', 'true', '1.5'] }] },
      notes: [`text ${CONTAINER}.args[0]`, `text ${CONTAINER}.args[1]`, `text ${CONTAINER}.args[2]`],
    },
    {
      given: '{nodeSelector: {a: null, b: yes}}',
      spec: { nodeSelector: { a: '', b: 'true' } },
      notes: ['null spec.nodeSelector[a]', 'text spec.nodeSelector[b]'],
    },
    {
      given: '{containers: null, hostNetwork: yes}',
      spec: { hostNetwork: true },
      notes: ['null spec.containers'],
    },
    { given: '{serviceAccount: a}', spec: { serviceAccount: 'a' }, notes: [] },
    {
      given: "{containers: [{name: a, livenessProbe: {httpGet: {port: '1'}}}]}",
      spec: { containers: [{ name: 'a', livenessProbe: { httpGet: { port: '1' } } }] },
      notes: [],
    },
    {
      given: '{containers: [{name: a, resources: {requests: {cpu: 1, memory: 50Mi}}}]}',
      spec: { containers: [{ name: 'a', resources: { requests: { cpu: '1', memory: '50Mi' } } }] },
      notes: [],
    },
  ];
  for (const { given, spec, notes } of coerced) {
    it(`operator/R24: reads ${given} as a typed decoder does, and says so`, () => {
      const found = pod(given);
      assert.deepEqual(found.problems, []);
      assert.deepEqual(specOf(found), spec);
      assert.deepEqual(notesOf(found), notes);
    });
  }

  it('operator/R24: is sent with the apiVersion of its kind, whatever it says itself', () => {
    const kinds = {
      ValidatingAdmissionPolicy: 'admissionregistration.k8s.io/v1beta1',
      Service: 'core/v1',
      Deployment: '',
    };
    const found = Object.entries(kinds).map(([kind, apiVersion]) =>
      read(`${apiVersion && `apiVersion: ${apiVersion}\n`}kind: ${kind}\nmetadata: {name: a}\n`),
    );
    assert.deepEqual(
      found.map(({ object }) => object?.apiVersion),
      ['admissionregistration.k8s.io/v1', 'v1', 'apps/v1'],
    );
    assert.deepEqual(found.map(notesOf), [
      ['apiVersion apiVersion'],
      ['apiVersion apiVersion'],
      ['apiVersion apiVersion'],
    ]);
  });

  const refused = [
    {
      given: '{contaners: []}',
      problem: 'unknown-field',
      message: 'file.yaml: spec.contaners: unknown field, did you mean containers?',
    },
    { given: '{zebra: 1}', problem: 'unknown-field', message: 'file.yaml: spec.zebra: unknown field' },
    {
      given: '{containers: [{name: a, Name: b}]}',
      problem: 'duplicate-key',
      message: `file.yaml: ${CONTAINER}.name: the field is there more than once, also as Name`,
    },
    {
      given: '{hostNetwork: true, hostNetwork: false}',
      problem: 'duplicate-key',
      message: 'file.yaml: line 4: key "hostNetwork" already set in map',
    },
    {
      given: "{containers: [{name: a, ports: [{containerPort: '1'}]}]}",
      problem: 'wrong-type',
      message: `file.yaml: ${CONTAINER}.ports[0].containerPort: expected an integer, found the text "1"`,
    },
    {
      given: '{priority: 1.5}',
      problem: 'wrong-type',
      message: 'file.yaml: spec.priority: expected an integer, found 1.5',
    },
    {
      given: "{hostNetwork: 'true'}",
      problem: 'wrong-type',
      message: 'file.yaml: spec.hostNetwork: expected true or false, found the text "true"',
    },
    {
      given: '{containers: {name: a}}',
      problem: 'wrong-type',
      message: 'file.yaml: spec.containers: expected a list, found an object',
    },
    {
      given: '{containers: [null]}',
      problem: 'wrong-type',
      message: `file.yaml: ${CONTAINER}: expected an object, found null`,
    },
    {
      given: '{nodeSelector: [a]}',
      problem: 'wrong-type',
      message: 'file.yaml: spec.nodeSelector: expected an object, found a list',
    },
    {
      given: '{hostname: {a: b}}',
      problem: 'wrong-type',
      message: 'file.yaml: spec.hostname: expected a text, found an object',
    },
    { given: '[]', problem: 'wrong-type', message: 'file.yaml: spec: expected an object, found a list' },
    { given: '{', problem: 'syntax', message: /^file\.yaml: yaml: / },
  ];
  for (const { given, problem, message } of refused) {
    it(`operator/R23: refuses ${given}`, () => {
      const found = pod(given);
      assert.deepEqual(
        found.problems.map((one) => one.problem),
        [problem],
      );
      assert.throws(() => objectOf(found), { reason: 'InvalidAsset', disposition: 'terminal', message });
    });
  }

  const whole = [
    { name: 'a list', given: '[]', message: 'file.yaml: does not hold an object' },
    { name: 'nothing', given: '# nothing\n', message: 'file.yaml: does not hold an object' },
    {
      name: 'two documents',
      given: 'kind: Service\n---\nkind: Role\n',
      message: 'file.yaml: holds more than one YAML document',
    },
    { name: 'an object without kind', given: 'metadata: {name: a}', message: 'file.yaml: has no kind' },
    {
      name: 'an object without name',
      given: 'apiVersion: v1\nkind: Service',
      message: 'file.yaml: metadata.name: there is none',
    },
    {
      name: 'a kind that nobody applies',
      given: 'kind: Job',
      message: /^file\.yaml: unhandled type Job; the operator applies Deployment, /,
    },
    {
      name: 'a pod, which the operator does not apply',
      given: 'kind: Pod',
      message: /^file\.yaml: unhandled type Pod/,
    },
  ];
  for (const { name, given, message } of whole) {
    it(`operator/R23: refuses ${name}`, () => {
      assert.throws(() => objectOf(read(given)), { message });
    });
  }

  it('operator/R23: is refused with all that is wrong with it at once', () => {
    const { problems } = pod('{zebra: 1, hostNetwork: maybe}');
    assert.deepEqual(
      problems.map(({ path }) => path),
      ['spec.zebra', 'spec.hostNetwork'],
    );
  });

  it('operator/R95: of the bootstrap machine is a pod', () => {
    const found = readManifest('kind: Deployment', 'bootstrap/pod.yaml', STATIC_PODS);
    assert.throws(() => objectOf(found), {
      message: 'bootstrap/pod.yaml: only static pods are allowed, found Deployment',
    });
  });

  it('operator/R24: may be an object of code, which is checked the same way and copied', () => {
    const given = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', labels: undefined },
      data: { b: 1 },
    };
    const { object, notes } = readObject(given, 'objects[0]', OPERANDS);
    assert.deepEqual(object, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { b: '1' } });
    assert.equal(notes.length, 1);
    assert.equal(given.data.b, 1);
    assert.throws(() => objectOf(readObject(undefined, 'objects[1]', OPERANDS)), {
      message: 'objects[1]: does not hold an object',
    });
  });

  it('operator/R24: keeps a key that objects of JavaScript have already', () => {
    const { object } = read('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {__proto__: b}\n');
    assert.match(JSON.stringify(object), /"__proto__":"b"/);
    assert.match(objectProblem('constructor: b'), /constructor: unknown field/);
  });
});

const objectProblem = (line: string): string => {
  const { problems } = read(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n${line}\n`);
  return problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
};
