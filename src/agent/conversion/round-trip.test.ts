import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  arbitraryConfig,
  arbitraryControlPlane,
  arbitraryOldConfig,
  arbitraryOldControlPlane,
  arbitraryOldTemplate,
  arbitraryTemplate,
} from '../../../test/support/agent-arbitraries.ts';
import { CONVERSION_DATA_ANNOTATION } from '../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject } from '../../api/object.ts';
import type { JsonObject } from '../../object/json.ts';
import { parseJson, stringifyJson } from '../../object/json-text.ts';
import { configConversion, templateConversion } from './config-conversion.ts';
import { controlPlaneConversion } from './control-plane-conversion.ts';
import { HUB_DATA_ANNOTATION, type LosslessConversion } from './conversion-data.ts';

const textOf = (object: KubeObject): string => stringifyJson(object as unknown as JsonObject);

/** Without the bookkeeping of conversions, and as JSON: a field that is undefined is none. */
function plain(object: KubeObject): unknown {
  const { annotations, ...metadata } = object.metadata;
  const { [CONVERSION_DATA_ANNOTATION]: _spoke, [HUB_DATA_ANNOTATION]: _hub, ...others } = annotations ?? {};
  const isEmpty = Object.keys(others).length === 0;
  const kept = isEmpty ? metadata : { ...metadata, annotations: others };
  return parseJson(textOf({ ...object, metadata: kept })).value;
}

const assertSame = (got: KubeObject, want: KubeObject): void => assert.deepEqual(plain(got), plain(want));

interface Pair<Hub extends KubeObject, Spoke extends KubeObject> {
  readonly conversion: LosslessConversion<Hub, Spoke>;
  readonly hub: fc.Arbitrary<Hub>;
  readonly spoke: fc.Arbitrary<Spoke>;
}

function properties<Hub extends KubeObject, Spoke extends KubeObject>(name: string, pair: Pair<Hub, Spoke>): void {
  const { conversion, hub, spoke } = pair;
  const { toHub, toSpoke } = conversion;

  it(`agent/V6: ${name} loses no field from the stored version to the older one and back`, () => {
    fc.assert(fc.property(hub, (object) => assertSame(toHub(toSpoke(object)), object)));
  });

  it(`agent/V3: ${name} loses no field from the older version to the stored one and back`, () => {
    fc.assert(fc.property(spoke, (object) => assertSame(toSpoke(toHub(object)), object)));
  });

  it(`agent/X8: ${name} shows what was written last, whoever wrote the older version before`, () => {
    fc.assert(
      fc.property(spoke, hub, (before, object) => {
        const kept = toHub(before).metadata.annotations?.[CONVERSION_DATA_ANNOTATION] ?? '';
        const annotations = { ...object.metadata.annotations, [CONVERSION_DATA_ANNOTATION]: kept };
        const stored = { ...object, metadata: { ...object.metadata, annotations } };
        assertSame(toHub(toSpoke(stored)), object);
      }),
    );
  });

  it(`agent/X8: ${name} keeps through any number of reads and writes what it had`, () => {
    fc.assert(
      fc.property(hub, (object) => {
        const once = toHub(toSpoke(object));
        const twice = toHub(toSpoke(once));
        assertSame(twice, object);
        // Nothing to write the second time: an update that changes nothing is none.
        assert.deepEqual(parseJson(textOf(twice)).value, parseJson(textOf(once)).value);
      }),
    );
  });

  it(`agent/V3: ${name} is read, whatever the annotations hold`, () => {
    const nonsense = fc.oneof(fc.string(), fc.json());
    fc.assert(
      fc.property(hub, nonsense, (object, data) => {
        const annotations = { [CONVERSION_DATA_ANNOTATION]: data, [HUB_DATA_ANNOTATION]: data };
        const stored = { ...object, metadata: { ...object.metadata, annotations } };
        const read = toSpoke(stored);
        assert.equal(read.metadata.annotations?.[CONVERSION_DATA_ANNOTATION], undefined);
        assert.notEqual(toHub({ ...read, metadata: { ...read.metadata, annotations } }), undefined);
      }),
    );
  });
}

describe('conversion of OpenshiftAssistedConfigs', () => {
  // `ready` is always written (V2): who compares must have it.
  const spoke = arbitraryOldConfig.map((config) => ({
    ...config,
    status: { ready: false, ...config.status },
  }));
  properties('a config', { conversion: configConversion, hub: arbitraryConfig, spoke });
});

describe('conversion of OpenshiftAssistedConfigTemplates', () => {
  properties('a template', {
    conversion: templateConversion,
    hub: arbitraryTemplate,
    spoke: arbitraryOldTemplate,
  });
});

describe('conversion of OpenshiftAssistedControlPlanes', () => {
  properties('a control plane', {
    conversion: controlPlaneConversion,
    hub: arbitraryControlPlane,
    spoke: arbitraryOldControlPlane,
  });
});
