import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../object/json.ts';
import { objectsAt, parse } from './definition.ts';
import { decideNames, establishedStatus, namingStatus, setConditions, usedNames } from './names.ts';

const NOW = new Date('2024-01-02T03:04:05.678Z');
const TIME = '2024-01-02T03:04:05Z';
const NAMES = {
  plural: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
  shortNames: ['w'],
  categories: ['all'],
};

const crd = (names: JsonObject = {}, status: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  metadata: {},
  spec: { group: 'example.com', names: { ...NAMES, ...names }, ...more },
  status,
});
const NONE = usedNames('example.com', []);
const taken = (acceptedNames: JsonObject) => usedNames('example.com', [parse(crd({}, { acceptedNames }))]);

describe('names of definitions', () => {
  it('apiserver/X3: accepts names nobody has', () => {
    const { acceptedNames, namesAccepted, established } = decideNames(parse(crd()), NONE);
    assert.deepEqual(acceptedNames, NAMES);
    assert.deepEqual(namesAccepted, {
      type: 'NamesAccepted',
      status: 'True',
      reason: 'NoConflicts',
      message: 'no conflicts found',
    });
    assert.deepEqual(established, {
      type: 'Established',
      status: 'False',
      reason: 'Installing',
      message: 'the initial names have been accepted',
    });
  });

  const conflicts: readonly (readonly [reason: string, names: JsonObject, message: string])[] = [
    ['PluralConflict', { plural: 'widgets' }, '"widgets" is already in use'],
    ['SingularConflict', { singular: 'widget' }, '"widget" is already in use'],
    ['ShortNamesConflict', { shortNames: ['w'] }, '"w" is already in use'],
    ['KindConflict', { kind: 'Widget' }, '"Widget" is already in use'],
    ['ListKindConflict', { kind: 'WidgetList' }, '"WidgetList" is already in use'],
    ['SingularConflict', { plural: 'widget' }, '"widget" is already in use'],
  ];
  for (const [reason, names, message] of conflicts) {
    it(`apiserver/X3: refuses with ${reason} what is in use`, () => {
      const { namesAccepted, established } = decideNames(parse(crd()), taken(names));
      assert.deepEqual(namesAccepted, { type: 'NamesAccepted', status: 'False', reason, message });
      assert.deepEqual(established, {
        type: 'Established',
        status: 'False',
        reason: 'NotAccepted',
        message: 'not all names are accepted',
      });
    });
  }

  it('keeps the names it had when it asks for others', () => {
    const own = { ...NAMES, shortNames: ['old'] };
    const { acceptedNames, namesAccepted } = decideNames(
      parse(
        crd(
          { shortNames: ['a', 'b'] },
          { acceptedNames: own, conditions: [{ type: 'Established', status: 'True', reason: 'r', message: 'm' }] },
        ),
      ),
      taken({ shortNames: ['a', 'b'] }),
    );
    assert.deepEqual(acceptedNames, own);
    assert.equal(namesAccepted.message, '["a" is already in use, "b" is already in use]');
  });

  it('stays established once it was', () => {
    const conditions = [{ type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'm' }];
    const { established } = decideNames(parse(crd({}, { conditions })), taken({ plural: 'widgets' }));
    assert.deepEqual(established, {
      type: 'Established',
      status: 'True',
      reason: 'InitialNamesAccepted',
      message: 'm',
    });
  });

  it('looks only at its own group, and at what comes with the server', () => {
    const other = parse({ ...crd({}, { acceptedNames: NAMES }), spec: { group: 'other.com' } });
    assert.equal(usedNames('example.com', [other]).resources.size, 0);
    const builtin = { resources: new Set(['widgets']), kinds: new Set<string>() };
    assert.equal(
      decideNames(parse(crd()), usedNames('example.com', [], builtin)).namesAccepted.reason,
      'PluralConflict',
    );
  });
});

const conditionsOf = (status: JsonObject | undefined): readonly JsonObject[] =>
  objectsAt(status ?? {}, 'conditions');

describe('conditions of definitions', () => {
  it('apiserver/X3: goes from nothing to accepted to established', () => {
    const first = namingStatus(crd(), NONE, NOW);
    assert.ok(first);
    assert.deepEqual(first['conditions'], [
      {
        type: 'NamesAccepted',
        status: 'True',
        lastTransitionTime: TIME,
        reason: 'NoConflicts',
        message: 'no conflicts found',
      },
      {
        type: 'Established',
        status: 'False',
        lastTransitionTime: TIME,
        reason: 'Installing',
        message: 'the initial names have been accepted',
      },
    ]);
    assert.equal(namingStatus(crd({}, first), NONE, NOW), undefined);
    const second = establishedStatus(crd({}, first), NOW);
    assert.deepEqual(conditionsOf(second)[1], {
      type: 'Established',
      status: 'True',
      lastTransitionTime: TIME,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    });
    assert.equal(establishedStatus(crd({}, second ?? {}), NOW), undefined);
    assert.equal(establishedStatus(crd(), NOW), undefined);
  });

  it('apiserver/X3: tells about the approval of protected groups', () => {
    const status = namingStatus(crd({}, {}, { group: 'x.k8s.io' }), NONE, NOW);
    const [, , condition] = conditionsOf(status);
    assert.equal(condition?.['type'], 'KubernetesAPIApprovalPolicyConformant');
    assert.equal(condition?.['reason'], 'MissingAnnotation');
  });

  it('changes the time only with the status', () => {
    const known = [{ type: 'A', status: 'True', lastTransitionTime: 'then', reason: 'x', message: 'y' }];
    const same = setConditions(known, [{ type: 'A', status: 'True', reason: 'z', message: 'y' }], NOW);
    assert.deepEqual(same, [{ type: 'A', status: 'True', lastTransitionTime: 'then', reason: 'z', message: 'y' }]);
    const changed = setConditions(known, [{ type: 'A', status: 'False', reason: 'z', message: 'y' }], NOW);
    assert.deepEqual(changed, [
      { type: 'A', status: 'False', lastTransitionTime: TIME, reason: 'z', message: 'y' },
    ]);
  });
});
