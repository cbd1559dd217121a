import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { Widget } from '../../../test/support/widget-kind.ts';
import type { Json, JsonObject } from '../json.ts';
import type { ApplyOf, Condition, Kind } from '../object.ts';
import { defineKind, type InputOf, type KindOf } from './define-kind.ts';
import { anyValue, cel, conditions, preserveUnknown } from './extensions.ts';
import { KindDefinitionError } from './kind-error.ts';
import type { Schema } from './structural.ts';

/** Compiles only when the two types are the same. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : { readonly a: A; readonly b: B };
const same = <A, B>(_isSame: Same<A, B>): void => {};

const names = { group: 'a.example', version: 'v1', kind: 'Boat', plural: 'boats', scope: 'Cluster' } as const;
const Boat = defineKind({
  ...names,
  spec: z.object({ sails: z.int32().default(2), name: z.string(), flags: z.array(z.string()).optional() }),
  status: z.object({ conditions: conditions() }).partial(),
});

const at = (schema: Schema | undefined, ...path: readonly string[]): Schema | undefined =>
  path.reduce((node, name) => node?.properties?.[name], schema);

describe('defineKind', () => {
  it('runtime/K1: gives the type of objects after defaulting and before, and what may be applied', () => {
    type Output = KindOf<typeof Boat>;
    same<Output['apiVersion'], 'a.example/v1'>(true);
    same<Output['kind'], 'Boat'>(true);
    same<Output['spec']['sails'], number>(true);
    same<Output['spec']['flags'], readonly string[] | undefined>(true);
    same<InputOf<typeof Boat>['spec']['sails'], number | undefined>(true);
    same<NonNullable<NonNullable<Output['status']>['conditions']>[number], Condition>(true);
    const input: InputOf<typeof Boat> = { metadata: { name: 'a' }, spec: { name: 'x' } };
    const applied: ApplyOf<Output> = { metadata: { name: 'a' }, spec: { sails: 3 } };
    // @ts-expect-error: the parts of an object are for reading only
    const write = (boat: Output) => void (boat.spec.sails = 1);
    // @ts-expect-error: a field that is not in the definition
    const wrong: InputOf<typeof Boat> = { metadata: { name: 'a' }, spec: { name: 'x', oars: 1 } };
    assert.deepEqual(
      [input.spec.sails, applied.spec?.sails, typeof write, wrong.metadata.name],
      [undefined, 3, 'function', 'a'],
    );
  });

  it('runtime/K1: is a kind for the client', () => {
    const kind: Kind = Boat;
    const { group, version, plural, scope, hasConditions } = kind;
    assert.deepEqual(
      [group, version, plural, scope, hasConditions],
      ['a.example', 'v1', 'boats', 'Cluster', true],
    );
    assert.equal(
      defineKind({ ...names, status: z.object({ conditions: z.array(z.string()) }) }).hasConditions,
      undefined,
    );
    assert.equal(defineKind({ ...names }).hasConditions, undefined);
  });

  it('runtime/K1: gives a definition with names, scope, columns, subresources and selectable fields', () => {
    const { metadata, spec } = Widget.toCRD() as JsonObject as { metadata: Json; spec: JsonObject };
    assert.deepEqual(metadata, { name: 'widgets.kinds.slipway.example' });
    assert.deepEqual(spec['names'], {
      kind: 'Widget',
      listKind: 'WidgetList',
      plural: 'widgets',
      singular: 'widget',
      shortNames: ['wd'],
      categories: ['all'],
    });
    const [{ schema, ...version }] = spec['versions'] as [{ schema: object; [key: string]: unknown }];
    assert.deepEqual(schema, { openAPIV3Schema: Widget.schema });
    assert.deepEqual(version, {
      name: 'v1',
      served: true,
      storage: true,
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      },
      additionalPrinterColumns: [
        { name: 'Color', type: 'string', jsonPath: '.spec.color' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
      selectableFields: [{ jsonPath: '.spec.color' }],
    });
  });

  it('runtime/K6: requires what has no default and is not optional', () => {
    assert.deepEqual(Boat.schema.required, ['spec']);
    assert.deepEqual(at(Boat.schema, 'spec')?.required, ['name']);
    assert.equal(defineKind({ ...names, spec: z.object({}).optional() }).schema.required, undefined);
    assert.equal(defineKind({ ...names, spec: z.object({}).prefault({}) }).schema.required, undefined);
  });

  it('runtime/K7: writes the same text each time, with sorted keys and the descriptions', () => {
    const text = JSON.stringify(Widget.toCRD());
    assert.equal(JSON.stringify(Widget.toCRD()), text);
    assert.notEqual(Widget.toCRD(), Widget.toCRD());
    assert.deepEqual(unsortedKeys(JSON.parse(text)), []);
    assert.equal(Widget.schema.description, 'A thing with every feature that a definition can have.');
    assert.equal(at(Widget.schema, 'spec', 'color')?.description, 'What it looks like.');
  });

  it('runtime/K7: writes the same text however the fields are ordered', () => {
    const [a, b] = [z.string(), z.int32()];
    const one = defineKind({ ...names, spec: z.object({ a, b }) });
    const other = defineKind({ ...names, spec: z.object({ b, a }) });
    assert.equal(JSON.stringify(one.toCRD()), JSON.stringify(other.toCRD()));
  });

  it('keeps the fields of a foreign kind that the definition does not name', () => {
    const Foreign = defineKind({
      ...names,
      isForeign: true,
      spec: z.object({ list: z.array(z.object({ a: z.string() })), map: z.record(z.string(), z.object({})) }),
    });
    const open = { 'x-kubernetes-preserve-unknown-fields': true };
    assert.deepEqual(Foreign.schema, {
      type: 'object',
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        spec: {
          type: 'object',
          properties: {
            list: {
              type: 'array',
              items: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], ...open },
            },
            map: { type: 'object', additionalProperties: { type: 'object', ...open } },
          },
          required: ['list', 'map'],
          ...open,
        },
      },
      required: ['spec'],
      ...open,
    });
  });

  it('has fields beside spec and status where a kind has such', () => {
    const Odd = defineKind({
      ...names,
      fields: { data: z.record(z.string(), z.string()), note: z.string().optional() },
    });
    same<KindOf<typeof Odd>['data'], { readonly [key: string]: string }>(true);
    assert.deepEqual(Odd.schema.required, ['data']);
    assert.deepEqual(at(Odd.schema, 'note'), { type: 'string' });
  });

  it('refuses rules for a half that is not there', () => {
    const rules = { status: [cel('true', 'never')] };
    assert.throws(() => defineKind({ ...names, rules }), /status: there are rules for it, but no status/);
  });

  it('refuses an unknown scope, and names what there is', () => {
    const bad = { ...names, scope: 'Namespace' } as unknown as typeof names;
    assert.throws(() => defineKind(bad), {
      name: 'KindDefinitionError',
      message: /: scope: "Namespace" is no scope \(use Namespaced or Cluster\)$/,
    });
  });

  for (const [name, half, want] of [
    ['text', z.string(), 'is z.string(), and must be an object'],
    ['a list that may be missing', z.array(z.string()).optional(), 'is z.array(), and must be an object'],
    ['fields without z.object', { sails: z.int32() }, 'is object, not a zod schema'],
    ['nothing', null, 'is object, not a zod schema'],
  ] as const) {
    it(`refuses a spec and a status that are ${name}`, () => {
      // What somebody may write who does not check types.
      const given = half as unknown as z.ZodType;
      assert.throws(
        () => defineKind({ ...names, spec: given, status: given }),
        (thrown) => {
          assert.ok(thrown instanceof KindDefinitionError);
          const hint = 'use z.object({ … })';
          assert.deepEqual(thrown.problems, [
            { path: 'spec', problem: want, hint },
            { path: 'status', problem: want, hint },
          ]);
          return true;
        },
      );
    });
  }

  it('takes objects, maps and anything that keeps all fields as a spec', () => {
    for (const spec of [
      z.object({}).optional(),
      z.record(z.string(), z.string()),
      preserveUnknown(),
      anyValue(),
    ]) {
      assert.equal(defineKind({ ...names, spec }).kind, 'Boat');
    }
  });

  it('refuses names that the server refuses', () => {
    const bad = { ...names, group: 'nodot', version: '1', kind: 'boat', plural: 'Boats' } as const;
    assert.throws(() => defineKind(bad), /group: "nodot".*version: "1".*kind: "boat".*plural: "Boats"/);
  });
});

/** Paths of objects whose keys are not in order. */
function unsortedKeys(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Object.keys(value);
  const isGood = Array.isArray(value) || keys.toSorted().join() === keys.join();
  const below = Object.entries(value).flatMap(([key, part]) => unsortedKeys(part, `${path}.${key}`));
  return isGood ? below : [path, ...below];
}
