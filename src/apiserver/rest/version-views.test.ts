import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { ServedApi } from '../../../test/support/served-api.ts';
import { APPLY, assertStatus, at, customDefinition, MERGE, sharedApi } from '../../../test/support/served-api.ts';
import { VirtualClock } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { ApplyConflict, applyConfiguration, updateManagedFields } from '../../object/merge/managed-fields.ts';
import { ConversionProblem } from '../../object/merge/typed-problem.ts';
import { customResources } from '../crd/custom-resource.ts';
import { Registry } from '../registry/registry.ts';
import { apiVersionOf } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { StatusError } from '../status.ts';
import { Codec } from './codec.ts';
import { textOf } from './object-meta.ts';
import { writingOf } from './ownership.ts';
import type { Scope } from './services.ts';
import { withViews } from './version-views.ts';

const TEXT = { type: 'string' };
const resources = customResources(
  customDefinition('toys', 'Toy', [
    { name: 'v1', spec: { color: TEXT, note: { ...TEXT, default: 'one' } } },
    { name: 'v2', spec: { colour: TEXT, note: TEXT } },
  ]),
);

const toy = (version: string, spec: JsonObject, owners: readonly Json[] = []): JsonObject => ({
  apiVersion: `t.io/${version}`,
  kind: 'Toy',
  metadata: { name: 'a', ...(owners.length > 0 && { managedFields: [...owners] }) },
  spec,
});

const applied = (manager: string, version: string, fields: JsonObject): JsonObject => ({
  manager,
  operation: 'Apply',
  apiVersion: `t.io/${version}`,
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': fields },
});

/** v1 says color where v2 says colour. */
function renamed(object: JsonObject, apiVersion: string): JsonObject {
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  const { color, colour, ...rest } = spec;
  const value = color ?? colour;
  const name = apiVersion === 't.io/v1' ? 'color' : 'colour';
  return { ...object, apiVersion, spec: value === undefined ? rest : { ...rest, [name]: value } };
}

const OPTIONS = { isDryRun: false, fieldValidation: 'Ignore', hasFieldManager: true, force: undefined } as const;

type Webhook = (object: JsonObject, apiVersion: string) => JsonObject;

/** A request in one version, with what the webhook was asked: versions and how many objects. */
function world(version: string, webhook: Webhook = renamed) {
  const calls: string[] = [];
  const registry = new Registry(resources);
  const codec = new Codec(registry, {
    convert: async (objects, to) => {
      calls.push(`${to.version} ${objects.length}`);
      return objects.map((object) => {
        const converted = webhook(object, apiVersionOf(to));
        to.strategy.setDefaults?.(converted);
        return converted;
      });
    },
  });
  const clock = new VirtualClock({ start: new Date('2026-05-04T03:02:01Z') });
  const resource = registry.find('t.io', version, 'toys');
  assert.ok(resource !== undefined);
  const parts: Pick<Scope, 'registry' | 'codec' | 'clock' | 'resource'> = { registry, codec, clock, resource };
  const scope = parts as Scope;
  const options = (manager: string) => ({ ...OPTIONS, manager });
  const apply = (manager: string, live: JsonObject, spec: JsonObject, force = false) =>
    withViews(scope, [live], (views) => {
      const writing = writingOf(scope, options(manager), '', views);
      return applyConfiguration({ ...writing, live, config: toy(version, spec), force }).object;
    });
  const update = (manager: string, live: JsonObject, updated: JsonObject) =>
    withViews(scope, [live, updated], (views) =>
      updateManagedFields({ ...writingOf(scope, options(manager), '', views), live, updated }),
    );
  return { calls, apply, update };
}

const ownersOf = (entries: Json | undefined): Record<string, Json> =>
  Object.fromEntries(
    (Array.isArray(entries) ? entries : [])
      .filter(isJsonObject)
      .map(({ manager, fieldsV1 }) => [textOf(manager), (isJsonObject(fieldsV1) && fieldsV1['f:spec']) || null]),
  );

const RED = [applied('ann', 'v1', { 'f:color': {} })];

describe('ownership in another version, of fields a webhook renames', () => {
  it('apiserver/X35: asks nobody when everybody is on record in the version of the request', () => {
    const { calls, apply, update } = world('v1');
    const live = toy('v1', { color: 'red' }, RED);
    const object = apply('bob', live, { note: 'x' });
    assert.ok(!(object instanceof Promise));
    assert.deepEqual(object['spec'], { color: 'red', note: 'x' });
    assert.ok(!(update('bob', live, toy('v1', { color: 'blue' }, RED)) instanceof Promise));
    assert.deepEqual(calls, []);
  });

  it('apiserver/S9: finds the conflict, spelled in the version of the owner', async () => {
    const { apply } = world('v2');
    await assert.rejects(
      async () => apply('bob', toy('v2', { colour: 'red' }, RED), { colour: 'blue' }),
      (error) =>
        error instanceof ApplyConflict &&
        error.message === 'Apply failed with 1 conflict: conflict with "ann": .spec.color',
    );
  });

  it('takes the field when forced, and shares it when it is the same', async () => {
    const { apply } = world('v2');
    const live = toy('v2', { colour: 'red' }, RED);
    const forced = await apply('bob', live, { colour: 'blue' }, true);
    assert.deepEqual(ownersOf(metadataOf(forced)['managedFields']), { bob: { 'f:colour': {} } });
    const shared = await apply('bob', live, { colour: 'red' });
    assert.deepEqual(ownersOf(metadataOf(shared)['managedFields']), {
      ann: { 'f:color': {} },
      bob: { 'f:colour': {} },
    });
  });

  it('apiserver/S13: removes what an applier gives up in another version, and adds no defaults of that version', async () => {
    const { apply } = world('v2');
    const object = await apply('ann', toy('v2', { colour: 'red' }, RED), {});
    assert.deepEqual([object['apiVersion'], object['spec']], ['t.io/v2', {}]);
  });

  it('asks once per version for both states of an update', async () => {
    const { calls, update } = world('v2');
    const live = toy('v2', { colour: 'red', note: 'x' }, RED);
    const owners = await update('bob', live, toy('v2', { colour: 'blue', note: 'x' }, RED));
    assert.deepEqual(ownersOf(owners), { bob: { 'f:colour': {} } });
    assert.deepEqual(calls, ['v1 2']);
  });

  it('apiserver/X34: fails an apply when the webhook does, and forgets the owners in other writes', async () => {
    const { apply, update } = world('v2', () => {
      throw new StatusError({ code: 500, message: 'no way back' });
    });
    const live = toy('v2', { colour: 'red' }, RED);
    await assert.rejects(
      async () => apply('bob', live, { note: 'x' }),
      (error) => error instanceof ConversionProblem && error.message === 'no way back',
    );
    assert.deepEqual(await update('bob', live, toy('v2', { colour: 'blue' }, RED)), []);
  });

  it('says what it was doing when a webhook leaves what the version does not have', async () => {
    const { apply } = world('v2', (object, apiVersion) => {
      const isLive = at(object, 'spec', 'colour') === 'red';
      return isLive ? renamed(object, apiVersion) : { ...object, apiVersion };
    });
    await assert.rejects(
      async () => apply('bob', toy('v2', { colour: 'red' }, RED), { colour: 'blue' }),
      new ConversionProblem('failed to convert new object: .spec.colour: field not declared in schema'),
    );
  });

  it('passes on what is no answer of a webhook', async () => {
    const { apply } = world('v2', () => {
      throw new RangeError('broken');
    });
    await assert.rejects(async () => apply('bob', toy('v2', {}, RED), { note: 'x' }), RangeError);
  });
});

describe('ownership in versions that are not served', () => {
  let api: ServedApi;
  let path: string;
  const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/games.t.io';
  const versions = (...served: readonly (readonly [string, boolean])[]) =>
    customDefinition(
      'games',
      'Game',
      served.map(([name, isServed]) => ({ name, served: isServed, spec: { n: { type: 'integer' }, s: TEXT } })),
    );
  before(async () => {
    api = await sharedApi();
    path = (await api.namespace()).replace('/api/v1', '');
    await api.define(versions(['v1', true], ['v2', true]));
  });
  const apply = (version: string, manager: string, spec: JsonObject) =>
    api.send('PATCH', `/apis/t.io/${version}${path}/games/a?fieldManager=${manager}`, {
      body: { apiVersion: `t.io/${version}`, kind: 'Game', metadata: { name: 'a' }, spec },
      type: APPLY,
    });
  const redefine = async (...served: readonly (readonly [string, boolean])[]) => {
    const { spec } = versions(...served);
    const { status } = await api.send('PATCH', CRD, { body: { spec: spec ?? null }, type: MERGE });
    assert.equal(status, 200);
  };

  it('counts as long as the definition has the version, and is an error afterwards', async () => {
    assert.equal((await apply('v2', 'ann', { n: 1 })).status, 201);
    await redefine(['v1', true], ['v2', false]);
    const conflict = await apply('v1', 'bob', { n: 2 });
    assertStatus(conflict, 409, 'Conflict', 'Apply failed with 1 conflict: conflict with "ann": .spec.n');
    const other = await apply('v1', 'bob', { s: 'x' });
    assert.deepEqual(at(other.body, 'metadata', 'managedFields', 0, 'apiVersion'), 't.io/v2');
    await redefine(['v1', true]);
    const gone = await apply('v1', 'bob', { s: 'y' });
    assertStatus(gone, 500, '', 'request to convert CR to an invalid group/version: t.io/v2');
    const merged = await api.send('PATCH', `/apis/t.io/v1${path}/games/a`, {
      body: { spec: { n: 3 } },
      type: MERGE,
    });
    assert.deepEqual([merged.status, at(merged.body, 'metadata', 'managedFields')], [200, undefined]);
  });
});
